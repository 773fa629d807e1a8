import type { SentencePart } from "#components/nodes/types.ts";
import { cn } from "#components/ui/cn.ts";

const TONES = {
  value: "bg-sunken text-ink",
  expression: "bg-thread-soft font-mono text-11 text-thread-text",
  missing: "border border-waiting border-dashed text-waiting",
  quiet: "bg-sunken/60 text-ink-faint",
} as const;

/** The card's sentence, values in chips. */
export function NodeSentence({ parts }: { parts: readonly SentencePart[] }) {
  return (
    <p className="line-clamp-4 break-words text-12 text-ink-soft leading-5">
      {parts.map((part, index) =>
        typeof part === "string" ? (
          part
        ) : (
          <span
            key={`${part.chip} ${index.toString()}`}
            className={cn("mx-px inline-block max-w-full truncate rounded-sm px-1 align-bottom leading-5", TONES[part.tone ?? "value"])}
          >
            {part.chip}
          </span>
        ),
      )}
    </p>
  );
}
