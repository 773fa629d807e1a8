"use client";

import { useDeferredValue, useMemo, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { lastScope, type PreviewPart, previewOf } from "#components/workflow-editor/fields/last-values.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";

/** Longest value and longest text that are shown; the run's own page shows all. */
const MOST_OF_VALUE = 1200;
const MOST_PARTS = 100;

const cut = (text: string) => (text.length > MOST_OF_VALUE ? `${text.slice(0, MOST_OF_VALUE)}…` : text);

/** The text of a field with the last run's values in place of its expressions; null without expressions, or before the first run. */
export function usePreview(text: string): readonly PreviewPart[] | null {
  const { readable, run } = usePanelReads();
  const settled = useDeferredValue(text);
  return useMemo(() => (run && settled.includes("{{") ? previewOf(settled, lastScope(readable, run)) : null), [settled, readable, run]);
}

/** Characters that fit into the folded preview, about. */
const FOLDED = 320;

/** What the field came to with the last run's values. */
export function ValuePreview({ parts }: { parts: readonly PreviewPart[] }) {
  const [isOpen, setIsOpen] = useState(false);
  const isAnyKnown = parts.some(({ kind }) => kind === "value");
  if (parts.every(({ kind }) => kind === "text")) return null;
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const lines = parts.reduce((sum, { text }) => sum + text.split("\n", 8).length - 1, 0);
  return (
    <figure aria-label="Preview" className="rounded-md border border-dashed bg-surface px-2.5 py-1.5 text-12">
      <figcaption className="flex min-h-5 items-center justify-between gap-2 text-11 text-ink-faint">
        {isAnyKnown ? "With the last run’s values" : "The last run has no value for this yet"}
        {isAnyKnown && (length > FOLDED || lines > 5) && (
          <Button
            size="sm"
            variant="ghost"
            className="-mr-1.5 h-6 px-1.5 text-11"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? "Show less" : "Show all"}
          </Button>
        )}
      </figcaption>
      {isAnyKnown && (
        <p className={cn("whitespace-pre-wrap break-words text-ink-soft", !isOpen && "line-clamp-6")}>
          {parts.slice(0, MOST_PARTS).map((part, index) => (
            <span
              key={`${index.toString()}`}
              title={part.source || undefined}
              className={cn(part.kind === "value" && "text-ink", part.kind === "missing" && "text-ink-faint italic")}
            >
              {part.kind === "value" && part.text === "" ? <Empty /> : cut(part.text)}
            </span>
          ))}
        </p>
      )}
    </figure>
  );
}

const Empty = () => <em className="text-ink-faint">empty</em>;
