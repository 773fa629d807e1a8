"use client";

import { useEffect, useState } from "react";
import { useWorkflowName } from "#components/shell/use-workflows.ts";
import { cn } from "#components/ui/cn.ts";
import { chipProblem } from "#components/workflow-editor/nodes/template-chips.ts";
import type { PlainPart, SentencePart } from "#components/workflow-editor/nodes/types.ts";

const TONES = {
  value: "bg-sunken text-ink",
  expression: "bg-thread-soft font-mono text-14 text-thread-text",
  code: "bg-sunken font-mono text-14 text-ink",
  fault: "bg-failed-soft font-mono text-14 text-failed underline decoration-failed decoration-wavy underline-offset-2",
  missing: "border border-waiting border-dashed text-waiting",
  quiet: "bg-sunken/60 text-ink-faint",
} as const;

const SHORT = "inline-block max-w-full truncate align-bottom leading-5";
/** Code and words of a schedule are read whole: they wrap with the sentence. */
const WRAPPED = "box-decoration-clone py-px";

const isWrapped = (part: Exclude<PlainPart, string>) => "cron" in part || ("tone" in part && part.tone === "code");
const sourceOf = (part: Exclude<PlainPart, string>) => ("cron" in part ? part.cron : "workflow" in part ? part.workflow : part.chip);

/** The card's sentence, values in chips. `problems`: what is said of the node; an expression that it is about is marked. */
export function NodeSentence({ parts, problems }: { parts: readonly SentencePart[]; problems: readonly string[] }) {
  const shown = useConditionWords(parts);
  return (
    <p className="line-clamp-4 break-words text-14 text-ink-soft leading-5">
      {shown.map((part, index) => {
        if (typeof part === "string") return part;
        const fault = "chip" in part && part.tone === "expression" ? chipProblem(part.chip, problems) : undefined;
        const tone = fault !== undefined ? "fault" : ("chip" in part && part.tone) || "value";
        return (
          <span
            key={`${sourceOf(part)} ${index.toString()}`}
            title={fault}
            className={cn("mx-px rounded-sm px-1", isWrapped(part) ? WRAPPED : SHORT, TONES[tone])}
          >
            {"cron" in part ? <CronWords expression={part.cron} /> : "workflow" in part ? <WorkflowName id={part.workflow} /> : part.chip}
          </span>
        );
      })}
    </p>
  );
}

/** Another workflow by its name. */
function WorkflowName({ id }: { id: string }) {
  const name = useWorkflowName(id);
  return name === undefined ? "a workflow that is gone" : (name ?? "another workflow");
}

const MAX_OF_CODE = 120;
const codeOf = (condition: string) => {
  const text = condition.trim().replace(/\s+/g, " ");
  return { chip: text.length > MAX_OF_CODE ? `${text.slice(0, MAX_OF_CODE)}…` : text, tone: "code" as const };
};

let inWords: typeof import("#components/workflow-editor/nodes/condition-words.ts").conditionInWords | undefined;

/** A sentence with its conditions in words, once what reads them has come: loaded with the first condition that is shown. */
function useConditionWords(parts: readonly SentencePart[]): PlainPart[] {
  const [, setIsLoaded] = useState(inWords !== undefined);
  const hasCondition = parts.some((part) => typeof part !== "string" && "condition" in part);
  useEffect(() => {
    if (!hasCondition || inWords) return;
    let isCurrent = true;
    void import("#components/workflow-editor/nodes/condition-words.ts").then(
      (module) => {
        inWords = module.conditionInWords;
        if (isCurrent) setIsLoaded(true);
      },
      () => {}, // then it stays Python
    );
    return () => {
      isCurrent = false;
    };
  }, [hasCondition]);
  return parts.flatMap((part): PlainPart[] => {
    if (typeof part === "string" || !("condition" in part)) return [part];
    return inWords?.(part.condition) ?? [codeOf(part.condition)];
  });
}

/** Words of expressions that were asked for; null for one that cannot be read. */
const known = new Map<string, string | null>();

async function wordsOf(expression: string): Promise<string | null> {
  // Loaded with the first schedule that is shown: most workflows have none.
  const cronstrue = (await import("cronstrue")).default;
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true, throwExceptionOnParseError: true });
  } catch {
    return null;
  }
}

/** `0 9 * * 1-5` → `At 09:00, Monday through Friday`; undefined while it is looked up, null when it cannot be read. */
function useCronWords(expression: string): string | null | undefined {
  const [words, setWords] = useState(() => known.get(expression));
  useEffect(() => {
    let isCurrent = true;
    const show = (text: string | null) => isCurrent && setWords(text);
    const text = known.get(expression);
    if (text !== undefined) show(text);
    else
      void wordsOf(expression).then(
        (found) => {
          known.set(expression, found);
          show(found);
        },
        () => show(null),
      );
    return () => {
      isCurrent = false;
    };
  }, [expression]);
  return words;
}

/** A schedule as words inside a sentence, or as one; the expression itself while they are looked up, or when it has none. */
export function CronWords({ expression, isSentence = false }: { expression: string; isSentence?: boolean }) {
  const words = useCronWords(expression);
  if (!words) return expression;
  return isSentence ? words : words.charAt(0).toLowerCase() + words.slice(1);
}
