"use client";

import { type KeyboardEvent, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
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

/**
 * A name that is edited where it stands. Enter or leaving the field takes it, Esc brings the old one back; with both the
 * keyboard goes back to the node that it came from.
 */
export function EditableName({ label, value, onCommit, isReadOnly = false, className }: EditableNameProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  const isCommitting = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  const cameFrom = useRef<HTMLElement | null>(null);

  const cancel = () => {
    setDraft(null);
    setRefusal(null);
  };
  const commit = async (): Promise<boolean> => {
    if (isCommitting.current) return false;
    const wanted = draft?.trim() ?? "";
    if (wanted === value || wanted === "") {
      cancel();
      return true;
    }
    isCommitting.current = true;
    const reason = await onCommit(wanted);
    isCommitting.current = false;
    if (reason) setRefusal(reason);
    else cancel();
    return reason === null;
  };
  /** Back to where one came from; with no such place the keyboard stays here. */
  const leave = () => {
    if (document.activeElement !== field.current || !cameFrom.current?.isConnected) return;
    // What was typed is settled: leaving must not take it once more.
    isCommitting.current = true;
    cameFrom.current.focus({ preventScroll: true });
    isCommitting.current = false;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isComposing(event)) return event.stopPropagation();
    if (event.key === "Enter") void commit().then((isTaken) => isTaken && leave());
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel();
    leave();
  };
  return (
    <span className="relative inline-flex min-w-0 flex-1">
      <input
        ref={field}
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
        onFocus={({ relatedTarget }) => {
          cameFrom.current = relatedTarget instanceof HTMLElement && relatedTarget.matches(".react-flow__node") ? relatedTarget : null;
        }}
        onBlur={() => void commit()}
        onKeyDown={onKeyDown}
        className={cn(
          "field-sizing-content h-7 min-w-12 pointer-coarse:h-11 max-w-full truncate rounded-md border border-transparent bg-transparent px-1.5 font-semibold text-14 text-ink transition-colors hover:border-line-strong focus:border-thread focus:bg-raised focus:outline-none read-only:hover:border-transparent aria-invalid:border-failed",
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
