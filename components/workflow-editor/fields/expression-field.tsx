"use client";

import { WandSparkles } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { type ExpressionOption, insertExpression, unfinishedExpression } from "#components/workflow-editor/fields/expression-options.ts";
import { pathStep } from "#components/workflow-editor/fields/json-paths.ts";
import { lastScope, type PreviewPart, previewOf } from "#components/workflow-editor/fields/last-values.ts";
import { usePanelReads } from "#components/workflow-editor/fields/panel-reads.tsx";
import { ValueField } from "#components/workflow-editor/fields/value-field.tsx";
import {
  nearestName,
  parseTemplate,
  possibleReadings,
  type Reference,
  shownSource,
  slugOf,
  writtenOf,
} from "#server/workflow/expressions.ts";
import { filters } from "#server/workflow/filters.ts";

const COLOURS: Record<HighlightedSegment["kind"], string> = {
  text: "text-ink",
  reference: "rounded-xs bg-thread-soft text-thread-text",
  fault: "rounded-xs bg-failed-soft text-failed underline decoration-failed decoration-wavy underline-offset-3",
};

export interface ExpressionFieldProps {
  value: string;
  onChange: (value: string) => void;
  isReadOnly: boolean;
  rows?: number;
  maxLength?: number | undefined;
  /** Whether it shares a line with other fields: its preview is one line then. */
  isInLine?: boolean;
  /** What keeps the node from running, of this field: what is said of an expression underlines it. */
  problems: readonly string[];
}

/**
 * A text that may hold {{expressions}}: "{{" or "/" lists what is upstream with the last run's values; arrow keys and Enter, or a
 * click, put it in. What cannot be read is underlined, and what the text came to with the last run's values stands below.
 */
export function ExpressionField({ value, onChange, isReadOnly, rows = 3, maxLength, isInLine = false, problems }: ExpressionFieldProps) {
  const reads = usePanelReads();
  const preview = usePreview(value);
  const pieces = highlightProblems(value, problems, reads.options);
  const fixes = [...new Map(pieces.flatMap(({ text, fix }) => (fix === null ? [] : [[text, fix] as const])))];
  return (
    <div className="flex flex-col gap-1.5">
      <ValueField
        {...{ value, onChange, isReadOnly, rows, maxLength }}
        takes="expression"
        all={() =>
          reads
            .options()
            .map(({ expression, name, nodeType, kind, lastValue }) => ({ code: expression, group: name, nodeType, kind, hint: lastValue }))
        }
        openPart={unfinishedExpression}
        insert={insertExpression}
        opensOnClick
        colours={pieces.map(({ kind, text }, index) => (
          <span key={`${index.toString()}`} className={COLOURS[kind]}>
            {text}
          </span>
        ))}
      />
      {!isReadOnly &&
        fixes.map(([wrong, fix]) => (
          <Button
            key={wrong}
            size="sm"
            icon={<WandSparkles />}
            className="h-auto min-h-7 self-start whitespace-normal py-1 text-left"
            onClick={() => onChange(value.replaceAll(wrong, fix))}
          >
            <span>
              Did you mean <code className="break-all font-mono text-12 text-thread-text">{fix}</code>?
            </span>
          </Button>
        ))}
      {preview && <ValuePreview parts={preview} isInLine={isInLine} />}
    </div>
  );
}

/** A piece of a text with expressions, for colouring; together they are the text. */
export interface HighlightedSegment {
  kind: "text" | "reference" | "fault";
  text: string;
  /** Of a fault: what it should probably be, braces and all. */
  fix: string | null;
}

type Known = Pick<ExpressionOption, "name" | "field">;

/** From the first bar on, as it was written, but for names of filters that are nearly one. */
function filtersMeant({ source, filters: calls }: Reference): string {
  const value = /^(?:[^|"']|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')*/.exec(source)?.[0] ?? source;
  const written = source.slice(value.length, -2).trim();
  if (!written.startsWith("|")) return "";
  const names = filters.map(({ name }) => name);
  const unknown = new Set(calls.map(({ name }) => name).filter((name) => !names.includes(name)));
  return ` ${written.replaceAll(/\|\s*([^\s|()]*)/g, (all, name) => (unknown.has(name) ? `| ${nearestName(names, name) ?? name}` : all))}`;
}

/** What a reference that cannot be read was probably meant to be, or null. */
export function suggestFix(reference: Reference, options: readonly Known[]): string | null {
  const { source, head, path } = reference;
  const heads = [...new Set(options.map(({ name }) => name))];
  const isHead = heads.find((name) => name === head) ?? heads.find((name) => slugOf(name) === slugOf(head));
  const name = isHead ?? nearestName(heads, head);
  if (name === undefined) return null;
  const fields = [...new Set(options.filter((option) => option.name === name).map(({ field }) => field))];
  const [wanted = "output", ...rest] = path.map(String);
  const near = fields.includes(wanted) ? wanted : nearestName(fields, wanted);
  const field = near ?? (isHead === undefined || path.length === 0 ? fields.find((one) => one === "output") : undefined);
  if (field === undefined) return null;
  const steps = path.slice(path.length - rest.length).map(pathStep);
  const fix = `{{${name}.${field}${rest.length ? steps.join("") : ""}${filtersMeant(reference)}}}`;
  return fix.replaceAll(/\s/g, "") === source.replaceAll(/\s/g, "") ? null : fix;
}

/**
 * A text in pieces, its expressions apart.
 * @param problems sentences about the field; one about an expression begins with it
 * @param options what can be read here; asked only when something cannot
 */
export function highlightProblems(text: string, problems: readonly string[], options: () => readonly Known[]): HighlightedSegment[] {
  return parseTemplate(text).map((part) => {
    if ("text" in part) return { kind: "text", text: writtenOf(part), fix: null };
    const { reference } = part;
    const { source } = reference;
    if (!problems.some((problem) => problem.startsWith(shownSource(reference)))) return { kind: "reference", text: source, fix: null };
    const known = options();
    const readings = [reference, ...possibleReadings(reference)].reverse();
    const fixes = readings.flatMap((reading) => suggestFix(reading, known) ?? []);
    return { kind: "fault", text: source, fix: fixes[0] ?? null };
  });
}

/** Longest value and longest text that are shown; the run's own page shows all. */
const MAX_OF_VALUE = 1200;
const MAX_PARTS = 100;

const cut = (text: string) => (text.length > MAX_OF_VALUE ? `${text.slice(0, MAX_OF_VALUE)}…` : text);

/** The text of a field with the last run's values in place of its expressions; null without expressions, or before the first run. */
export function usePreview(text: string): readonly PreviewPart[] | null {
  const { readable, run } = usePanelReads();
  const settled = useDeferredValue(text);
  return useMemo(() => (run && settled.includes("{{") ? previewOf(settled, lastScope(readable, run)) : null), [settled, readable, run]);
}

/** Characters that fit into the folded preview, about. */
const FOLDED = 320;

/** What the field came to with the last run's values. */
export function ValuePreview({ parts, isInLine = false }: { parts: readonly PreviewPart[]; isInLine?: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const isAnyKnown = parts.some(({ kind }) => kind === "value");
  if (parts.every(({ kind }) => kind === "text")) return null;
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const lines = parts.reduce((sum, { text }) => sum + text.split("\n", 8).length - 1, 0);
  if (isInLine) {
    const text = parts.slice(0, MAX_PARTS).map((part) => part.text);
    return (
      <figure aria-label="Preview" className="truncate px-2.5 text-12 text-ink-soft" title={cut(text.join(""))}>
        {isAnyKnown ? cut(text.join("")) || <Empty /> : <em className="text-ink-faint">no value yet</em>}
      </figure>
    );
  }
  return (
    <figure aria-label="Preview" className="rounded-md border border-dashed bg-surface px-2.5 py-1.5 text-12">
      <figcaption className="flex min-h-5 items-center justify-between gap-2 text-12 text-ink-faint">
        {isAnyKnown ? "With the last run’s values" : "The last run has no value for this yet"}
        {isAnyKnown && (length > FOLDED || lines > 5) && (
          <Button
            size="sm"
            variant="ghost"
            className="-mr-1.5 h-6 px-1.5 text-12"
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? "Show less" : "Show all"}
          </Button>
        )}
      </figcaption>
      {isAnyKnown && (
        <p className={cn("whitespace-pre-wrap break-words text-ink-soft", !isOpen && "line-clamp-6")}>
          {parts.slice(0, MAX_PARTS).map((part, index) => (
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
