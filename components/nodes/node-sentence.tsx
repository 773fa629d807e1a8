import { CronWords } from "#components/nodes/cron-words.tsx";
import type { SentencePart } from "#components/nodes/types.ts";
import { cn } from "#components/ui/cn.ts";

const TONES = {
  value: "bg-sunken text-ink",
  expression: "bg-thread-soft font-mono text-11 text-thread-text",
  code: "bg-sunken font-mono text-11 text-ink",
  missing: "border border-waiting border-dashed text-waiting",
  quiet: "bg-sunken/60 text-ink-faint",
} as const;

const SHORT = "inline-block max-w-full truncate align-bottom leading-5";
/** Code and words of a schedule are read whole: they wrap with the sentence. */
const WRAPPED = "box-decoration-clone py-px";

const isWrapped = (part: Exclude<SentencePart, string>) => "cron" in part || part.tone === "code";

/** The card's sentence, values in chips. */
export function NodeSentence({ parts }: { parts: readonly SentencePart[] }) {
  return (
    <p className="line-clamp-4 break-words text-12 text-ink-soft leading-5">
      {parts.map((part, index) =>
        typeof part === "string" ? (
          part
        ) : (
          <span
            key={`${"cron" in part ? part.cron : part.chip} ${index.toString()}`}
            className={cn(
              "mx-px rounded-sm px-1",
              isWrapped(part) ? WRAPPED : SHORT,
              TONES["cron" in part ? "value" : (part.tone ?? "value")],
            )}
          >
            {"cron" in part ? <CronWords expression={part.cron} /> : part.chip}
          </span>
        ),
      )}
    </p>
  );
}
