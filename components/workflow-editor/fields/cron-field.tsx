"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "#components/trpc.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";
import { useEditor } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import {
  type CronKind,
  type CronPlan,
  cronOf,
  LAST_DAY,
  MIN_MINUTES,
  newPlan,
  planOf,
} from "#components/workflow-editor/fields/cron-plan.ts";
import { NumberField } from "#components/workflow-editor/fields/number-field.tsx";
import { ToggleRow } from "#components/workflow-editor/fields/toggle-row.tsx";
import { CronWords } from "#components/workflow-editor/nodes/node-sentence.tsx";

const KINDS: readonly { value: CronKind; label: string }[] = [
  { value: "minutes", label: "Every few minutes" },
  { value: "hourly", label: "Every hour" },
  { value: "daily", label: "Every day" },
  { value: "weekly", label: "On days of the week" },
  { value: "monthly", label: "Every month" },
  { value: "custom", label: "Cron expression" },
];
const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const PAUSE_MS = 250;

export interface CronFieldProps {
  nodeId: string;
  value: string;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}

/** When a schedule fires: built from a few choices or typed as cron, with its words and next fires in its zone. */
export function CronField({ nodeId, value, isReadOnly, onChange }: CronFieldProps) {
  // A plan typed as cron stays an expression until another kind is chosen, even where the builder could show it.
  const [isTyped, setIsTyped] = useState(false);
  const read = planOf(value);
  const plan: CronPlan = isTyped ? { kind: "custom", expression: value } : read;
  const isUnset = value.trim() === "" && !isTyped;
  const timezone = useEditor((state) => state.data[nodeId]?.timezone);
  return (
    <div className="flex flex-col gap-2">
      <Select
        value={isUnset ? "" : plan.kind}
        disabled={isReadOnly}
        options={KINDS}
        onValueChange={(kind) => {
          setIsTyped(kind === "custom");
          onChange(cronOf(newPlan(kind, value)));
        }}
      />
      {!isUnset && <PlanFields plan={plan} isReadOnly={isReadOnly} onChange={(next) => onChange(cronOf(next))} />}
      {value.trim() !== "" && <Preview cron_expression={value} timezone={typeof timezone === "string" ? timezone : "UTC"} />}
    </div>
  );
}

function PlanFields({ plan, isReadOnly, onChange }: { plan: CronPlan; isReadOnly: boolean; onChange: (plan: CronPlan) => void }) {
  switch (plan.kind) {
    case "minutes":
      return (
        <Field label="Minutes apart" hint={`${MIN_MINUTES} to 59${60 % plan.every === 0 ? "" : "; counts anew at each full hour"}`}>
          <NumberField
            value={plan.every}
            min={MIN_MINUTES}
            max={59}
            isInteger
            isReadOnly={isReadOnly}
            onChange={(every) => onChange({ ...plan, every })}
          />
        </Field>
      );
    case "hourly":
      return (
        <Field label="Minute of the hour">
          <NumberField
            value={plan.minute}
            min={0}
            max={59}
            isInteger
            isReadOnly={isReadOnly}
            onChange={(minute) => onChange({ ...plan, minute })}
          />
        </Field>
      );
    case "daily":
      return <TimeField plan={plan} isReadOnly={isReadOnly} onChange={onChange} />;
    case "weekly":
      return (
        <>
          <ToggleRow
            label="Days"
            options={WEEKDAYS.map((day, index) => ({ value: String((index + 1) % 7), label: day.slice(0, 2), name: day }))}
            value={plan.days.map(String)}
            isReadOnly={isReadOnly}
            // A week without a day would never fire.
            onChange={(days) => days.length && onChange({ ...plan, days: days.map(Number) })}
          />
          <TimeField plan={plan} isReadOnly={isReadOnly} onChange={onChange} />
        </>
      );
    case "monthly":
      return (
        <div className="grid grid-cols-2 gap-2">
          <Field label="Day" hint={`1 to ${LAST_DAY}`}>
            <NumberField
              value={plan.day}
              min={1}
              max={LAST_DAY}
              isInteger
              isReadOnly={isReadOnly}
              onChange={(day) => onChange({ ...plan, day })}
            />
          </Field>
          <TimeField plan={plan} isReadOnly={isReadOnly} onChange={onChange} />
        </div>
      );
    default:
      return (
        <Field label="Cron expression" hint="Minute, hour, day of month, month, day of week">
          <Input
            value={plan.expression}
            readOnly={isReadOnly}
            maxLength={120}
            spellCheck={false}
            placeholder="0 9 * * 1-5"
            className="font-mono text-12"
            onChange={(event) => onChange({ ...plan, expression: event.target.value })}
          />
        </Field>
      );
  }
}

function TimeField<Plan extends CronPlan & { time: string }>({
  plan,
  isReadOnly,
  onChange,
}: {
  plan: Plan;
  isReadOnly: boolean;
  onChange: (plan: Plan) => void;
}) {
  return (
    <Field label="Time">
      <Input
        type="time"
        value={plan.time}
        readOnly={isReadOnly}
        className="tabular"
        onChange={(event) => event.target.value && onChange({ ...plan, time: event.target.value })}
      />
    </Field>
  );
}

/** A moment on the clocks of a zone: `Mon 23 Nov, 09:00`. */
const inZone = (time: string, timeZone: string) =>
  new Date(time).toLocaleString("en-GB", {
    timeZone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });

/** What the schedule comes to, as the server reads it. */
function Preview(props: { cron_expression: string; timezone: string }) {
  const trpc = useTRPC();
  const schedule = useDebounced(props, PAUSE_MS);
  const { data, isError } = useQuery(
    trpc.checks.schedule.queryOptions(schedule, { placeholderData: keepPreviousData, staleTime: 30_000, retry: false }),
  );
  if (isError) return <p className="text-12 text-ink-faint">The next runs cannot be shown now: the service does not answer.</p>;
  // As tall as a sentence and five times, so that what stands below stays where it is.
  if (!data) return <Skeleton className="h-37.5 w-full" />;
  if (data.fault)
    return (
      <p role="status" className="text-12 text-failed">
        {data.fault.message}
      </p>
    );
  return (
    <div className="rounded-md border bg-surface px-2.5 py-2 text-12">
      <p className="font-semibold text-ink">
        <CronWords expression={schedule.cron_expression} isSentence />
      </p>
      <p className="mt-1.5 text-12 text-ink-faint">Next runs, {data.timezone}</p>
      <ul aria-label="Next runs" className="text-ink-soft tabular">
        {data.next_fires.map((time) => (
          <li key={time}>
            <time dateTime={time}>{inZone(time, data.timezone)}</time>
          </li>
        ))}
      </ul>
    </div>
  );
}
