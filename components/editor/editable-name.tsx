"use client";

import { type KeyboardEvent, useRef, useState } from "react";
import { cn } from "#components/ui/cn.ts";

export interface EditableNameProps {
  /** Accessible name of the field, e.g. "Workflow name". */
  label: string;
  value: string;
  /** Takes the new name; a sentence says why not, and the field stays open with it. */
  onCommit: (value: string) => Promise<string | null> | string | null;
  isReadOnly?: boolean;
  className?: string;
}

/** A name that is edited where it stands. Enter or leaving the field takes it, Esc brings the old one back. */
export function EditableName({ label, value, onCommit, isReadOnly = false, className }: EditableNameProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const isCommitting = useRef(false);

  const cancel = () => {
    setDraft(null);
    setRefusal(null);
  };
  const commit = async () => {
    if (draft === null || isCommitting.current) return;
    const wanted = draft.trim();
    if (wanted === value || wanted === "") return cancel();
    isCommitting.current = true;
    const reason = await onCommit(wanted);
    isCommitting.current = false;
    if (reason) setRefusal(reason);
    else cancel();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter") event.currentTarget.blur();
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel();
  };
  return (
    <span className="relative inline-flex min-w-0 flex-1">
      <input
        aria-label={label}
        aria-invalid={refusal !== null || undefined}
        value={draft ?? value}
        readOnly={isReadOnly}
        maxLength={120}
        spellCheck={false}
        size={Math.max(6, (draft ?? value).length)}
        onChange={(event) => {
          setDraft(event.target.value);
          setRefusal(null);
        }}
        onBlur={() => void commit()}
        onKeyDown={onKeyDown}
        className={cn(
          "field-sizing-content h-7 min-w-12 max-w-full truncate rounded-md border border-transparent bg-transparent px-1.5 font-semibold text-13 text-ink transition-colors hover:border-line-strong focus:border-thread focus:bg-raised focus:outline-none read-only:hover:border-transparent aria-invalid:border-failed",
          className,
        )}
      />
      {refusal && (
        <span
          role="alert"
          className="absolute top-full left-0 z-30 mt-1 w-max max-w-72 rounded-md border border-failed/35 bg-failed-soft px-2 py-1 text-12 text-failed shadow-md"
        >
          {refusal}
        </span>
      )}
    </span>
  );
}
