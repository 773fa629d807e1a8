"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { PathTree } from "#components/canvases/editing/path-tree.tsx";
import { draftOf, fieldOf, isChart, mayShowRuns, type WidgetDraft, widgetOf } from "#components/canvases/editing/widget-draft.ts";
import { KIND_WORDS, type WidgetKind } from "#components/canvases/editing/words.ts";
import { RANGE_WORDS } from "#components/canvases/widgets/reader.ts";
import { WidgetView } from "#components/canvases/widgets/widget-view.tsx";
import { errorBodyOf, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { DialogFooter } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import type { OutputPart, Widget } from "#server/features/canvases/schema.ts";

const optionsOf = <Value extends string>(words: Record<Value, string>) =>
  Object.entries(words).map(([value, label]) => ({ value: value as Value, label: label as string })); // cast: entries of a record

const KINDS = optionsOf<WidgetKind>(KIND_WORDS);
const OVER = optionsOf({ latest: "The latest run", runs: "Many runs" });
const RANGES = optionsOf(RANGE_WORDS);
const BUCKETS = optionsOf({ run: "Each run", hour: "Each hour", day: "Each day", week: "Each week", month: "Each month" });
const AGGREGATES = optionsOf({
  last: "The latest",
  count: "How many there are",
  sum: "Their total",
  avg: "Their average",
  min: "The lowest",
  max: "The highest",
  p95: "95th percentile (all but the highest 5 %)",
});

interface WidgetFormProps {
  widget: Widget;
  /** What its source gave last; null when nothing has. */
  output: OutputPart | null;
  submitLabel: string;
  onSubmit: (widget: Widget) => void;
}

/** Everything that a widget can be told, with what it would show beside it. */
export function WidgetForm({ widget, output, submitLabel, onSubmit }: WidgetFormProps) {
  const trpc = useTRPC();
  const [draft, setDraft] = useState<WidgetDraft>(() => draftOf(widget));
  const set = <Name extends keyof WidgetDraft>(name: Name, value: WidgetDraft[Name]) => setDraft((now) => ({ ...now, [name]: value }));
  const settled = useDebounced(draft, 250);
  const made = widgetOf(settled, widget);
  const shown = "widget" in made ? made.widget : null;
  const preview = useQuery(
    trpc.canvases.preview.queryOptions(
      { widget: shown ?? widget },
      { enabled: shown !== null, placeholderData: keepPreviousData, retry: false },
    ),
  );
  const refused = shown && preview.isError ? errorBodyOf(preview.error) : null;
  const errors: Record<string, string> = {
    ...("errors" in made && made.errors),
    ...Object.fromEntries((refused?.errors ?? []).map(({ path, message }) => [fieldOf(path), message])),
  };
  const isFaulty = Object.keys(errors).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const now = widgetOf(draft, widget);
    if ("widget" in now && !isFaulty) onSubmit(now.widget);
  };
  const { kind, over, bucket } = draft;
  const isOver = over === "runs" && mayShowRuns(kind);
  const path = (name: "path" | "x" | "y", label: string, hint: string) => (
    <PathField label={label} hint={hint} value={draft[name]} error={errors[name]} output={output} onChange={(value) => set(name, value)} />
  );
  return (
    <form onSubmit={submit} noValidate className="flex min-w-0 flex-col gap-4">
      <div className="grid min-w-0 gap-5 md:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Field label="Title" error={errors.title}>
            <Input value={draft.title} maxLength={120} onChange={(event) => set("title", event.target.value)} />
          </Field>
          <div className="grid grid-cols-2 gap-3">
            <Field label="Kind">
              <Select value={kind} options={KINDS} onValueChange={(value) => set("kind", value)} />
            </Field>
            {mayShowRuns(kind) && (
              <Field label="Shows">
                <Select value={over} options={OVER} onValueChange={(value) => set("over", value)} />
              </Field>
            )}
          </div>
          {isOver && (
            <div className="grid grid-cols-2 gap-3">
              <Field label="Of which time">
                <Select value={draft.range} options={RANGES} onValueChange={(value) => set("range", value)} />
              </Field>
              {kind !== "number" && (
                <Field label={kind === "table" ? "A row for" : "A point for"}>
                  <Select value={bucket} options={BUCKETS} onValueChange={(value) => set("bucket", value)} />
                </Field>
              )}
              {(kind === "number" || bucket !== "run") && (
                <Field label="Of several values">
                  <Select value={draft.aggregate} options={AGGREGATES} onValueChange={(value) => set("aggregate", value)} />
                </Field>
              )}
            </div>
          )}
          {isChart(kind) ? (
            <>
              {!isOver && path("x", "Names or times", "One for each point.")}
              {path("y", isOver ? "Number" : "Numbers", isOver ? "One of each run." : "In the same order as the names.")}
            </>
          ) : (
            path(
              "path",
              kind === "table" ? "Rows" : "Part to show",
              kind === "table" ? "The list; empty for all of the output." : "Empty for all of the output.",
            )
          )}
          {kind === "table" && <Columns columns={draft.columns} error={errors.columns} onChange={(columns) => set("columns", columns)} />}
          {(kind === "number" || isChart(kind)) && (
            <div className="grid grid-cols-2 gap-3">
              <Field label="Unit" isOptional error={errors.unit}>
                <Input value={draft.unit} maxLength={20} onChange={(event) => set("unit", event.target.value)} />
              </Field>
              <Field label="Digits after the point" isOptional error={errors.decimals}>
                <Input
                  type="number"
                  min={0}
                  max={6}
                  step={1}
                  value={draft.decimals ?? ""}
                  onChange={(event) => set("decimals", event.target.value === "" ? undefined : event.target.valueAsNumber)}
                />
              </Field>
            </div>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-1.5">
          <p className="font-semibold text-12">Preview</p>
          <div className="h-80 min-w-0 md:sticky md:top-0">
            <WidgetView widget={shown ?? widget} data={preview.data} isStatic />
          </div>
        </div>
      </div>
      {refused && !isFaulty && <Notice tone="failed">{refused.detail}</Notice>}
      <DialogFooter>
        <Button type="submit" variant="primary" disabled={isFaulty}>
          {submitLabel}
        </Button>
      </DialogFooter>
    </form>
  );
}

interface PathFieldProps {
  label: string;
  hint: string;
  value: string;
  error: string | undefined;
  output: OutputPart | null;
  onChange: (path: string) => void;
}

/** A JSONPath: picked in what the Output gave last, or typed. */
function PathField({ label, hint, value, error, output, onChange }: PathFieldProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <Field label={label} hint={hint} error={error}>
        <Input
          value={value}
          maxLength={300}
          spellCheck={false}
          placeholder="$"
          className="font-mono"
          onChange={(event) => onChange(event.target.value)}
        />
      </Field>
      {output && output.parts.length > 0 && <PathTree label={`Pick: ${label}`} root={output} value={value || "$"} onPick={onChange} />}
    </div>
  );
}

interface ColumnsProps {
  columns: WidgetDraft["columns"];
  error: string | undefined;
  onChange: (columns: WidgetDraft["columns"]) => void;
}

/** The columns of a table; without any it shows what its first row has. */
function Columns({ columns, error, onChange }: ColumnsProps) {
  const change = (at: number, part: Partial<WidgetDraft["columns"][number]>) =>
    onChange(columns.map((column, index) => (index === at ? { ...column, ...part } : column)));
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1.5 font-semibold text-12">Columns</legend>
      {columns.length === 0 && <p className="text-12 text-ink-faint">Those of the first row.</p>}
      {columns.map((column, index) => (
        <div key={`column ${index.toString()}`} className="flex items-center gap-1.5">
          <Input
            aria-label={`Name of column ${index + 1}`}
            value={column.label}
            maxLength={80}
            onChange={(event) => change(index, { label: event.target.value })}
          />
          <Input
            aria-label={`Path of column ${index + 1}`}
            value={column.path}
            maxLength={300}
            spellCheck={false}
            className="font-mono"
            onChange={(event) => change(index, { path: event.target.value })}
          />
          <IconButton
            label={`Remove column ${column.label || index + 1}`}
            icon={<X />}
            onClick={() => onChange(columns.filter((_, other) => other !== index))}
          />
        </div>
      ))}
      {error && (
        <p role="alert" className="text-12 text-failed">
          {error}
        </p>
      )}
      {columns.length < 20 && (
        <Button size="sm" icon={<Plus />} className="self-start" onClick={() => onChange([...columns, { label: "", path: "$." }])}>
          Add column
        </Button>
      )}
    </fieldset>
  );
}
