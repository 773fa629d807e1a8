"use client";

import { type KeyboardEvent, useState } from "react";
import { toast } from "sonner";
import { errorBodyOf } from "#components/trpc.tsx";

export interface VersionNameProps {
  version: number;
  name: string | null;
  isReadOnly: boolean;
  /** Takes the new name, null for none. */
  onCommit: (name: string | null) => Promise<void>;
}

/** A version's name, edited where it stands. Enter or leaving the field takes it, Esc brings the old one back; empty takes it away. */
export function VersionName({ version, name, isReadOnly, onCommit }: VersionNameProps) {
  const [draft, setDraft] = useState<string | null>(null);
  if (isReadOnly) return name ? <p className="px-2 pb-1.5 font-medium text-12 text-ink">{name}</p> : null;
  const commit = async () => {
    const wanted = draft?.trim() ?? null;
    if (wanted === null || wanted === (name ?? "")) return setDraft(null);
    try {
      await onCommit(wanted || null);
      setDraft(null);
    } catch (error) {
      // What was typed stays in the field.
      toast.error(errorBodyOf(error).detail);
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") event.currentTarget.blur();
    if (event.key !== "Escape" || draft === null) return;
    event.stopPropagation();
    setDraft(null);
  };
  return (
    <input
      aria-label={`Name of version ${version}`}
      placeholder="Name this version"
      value={draft ?? name ?? ""}
      maxLength={120}
      spellCheck={false}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void commit()}
      onKeyDown={onKeyDown}
      className="mx-1 mb-1 h-7 w-[calc(100%-0.5rem)] truncate rounded-md border border-transparent bg-transparent px-1 font-medium text-12 text-ink placeholder:font-normal placeholder:text-ink-faint hover:border-line-strong focus:border-thread focus:bg-raised focus:outline-none pointer-coarse:h-9 pointer-coarse:text-16"
    />
  );
}
