"use client";

import { useRunShallow } from "#components/runs/run-context.tsx";
import { ValueView } from "#components/runs/value-view.tsx";
import { isFinal } from "#server/schemas/execution.ts";

/** What the whole run gave, or why it failed, in full. */
export function RunResult() {
  const { isOver, output, error, format } = useRunShallow(({ picture, view }) => ({
    isOver: picture ? isFinal(picture.status) : false,
    output: picture?.output ?? null,
    error: picture?.error ?? null,
    format: view?.execution.outputs.length === 1 ? view.execution.outputs[0]?.format : undefined,
  }));
  if (!isOver || (output === null && error === null)) return null;
  return (
    <section aria-label="Result" className="flex max-h-[45%] shrink-0 flex-col border-b">
      <h2 className="px-3 pt-2.5 pb-1 font-semibold text-12">{error === null ? "Result" : "Why it failed"}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <div tabIndex={0} className="min-h-0 overflow-y-auto px-3 pb-3 focus-visible:outline-offset-[-2px]">
        {error !== null ? (
          <p className="whitespace-pre-wrap break-words text-13 text-failed">{error}</p>
        ) : (
          <ValueView value={output ?? ""} what="result" {...(format && { format })} />
        )}
      </div>
    </section>
  );
}
