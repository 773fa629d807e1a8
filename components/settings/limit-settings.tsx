"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { z } from "zod";
import { formatBytes, formatCount, plural } from "#components/format.ts";
import { Form, FormFailure } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { type LaterSchema, useForm } from "#components/forms/use-form.ts";
import { hourForm, retentionForm } from "#components/settings/settings-form.gen.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Input } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";

const SCHEMAS = { executions_per_hour: hourForm, retention_days: retentionForm };
/** What each switch starts with where the install has no limit of its own. */
const FIRST_RUNS = 100;
const FIRST_DAYS = 90;

/** How much a project keeps, holds and starts. */
export function LimitSettings() {
  return (
    <>
      <RetentionSettings />
      <StorageSettings />
      <HourSettings />
    </>
  );
}

/** How many runs a project may start in an hour. */
function HourSettings() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const saved = useQuery(trpc.projects.get.queryOptions({ project_id: project.id }));
  const hour = useQuery(trpc.projects.hour.queryOptions({ project_id: project.id }));
  const failed = [saved, hour].find(({ isError }) => isError);
  const own = saved.data?.executions_per_hour;
  const { limit = null, used = 0, preset = null, most = null } = hour.data ?? {};
  const usual = preset === null ? "without a limit" : formatCount(preset);
  return (
    <SettingsSection
      title="Runs in an hour"
      description="What the API, webhooks, HTTP triggers and schedules may start. Beyond it they are refused until the hour has gone on. Runs of drafts and reruns in the app are not counted."
    >
      {failed && <LoadFailure query={failed} />}
      {(saved.isPending || hour.isPending) && <Skeleton className="h-16" />}
      {own !== undefined && hour.data && (
        <LimitForm
          key={own}
          name="executions_per_hour"
          saved={own}
          initialValue={preset ?? FIRST_RUNS}
          max={most ?? 1_000_000}
          switchLabel="A limit of its own"
          switchHint={`Off, the project has the install’s: ${usual}${most === null ? "" : `, and never more than ${formatCount(most)}`}.`}
          label="Runs in an hour"
          hint={most === null ? "1 to 1,000,000" : `1 to ${formatCount(most)}, the most that this install allows`}
          className="max-w-60"
          saveLabel="Save limit"
          savedMessage={() => "The limit is saved"}
        >
          <p className="text-14">
            {limit === null
              ? "There is no limit."
              : used < limit
                ? `${plural(used, "run")} of ${formatCount(limit)} started within the last hour.`
                : `All ${formatCount(limit)} of the last hour are used.`}
          </p>
        </LimitForm>
      )}
    </SettingsSection>
  );
}

/** For how long a project keeps its runs. */
function RetentionSettings() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const saved = useQuery(trpc.projects.get.queryOptions({ project_id: project.id }));
  const days = saved.data?.retention_days;
  return (
    <SettingsSection
      title="Run history"
      description="Runs that ended longer ago than you keep them are deleted for good, with their inputs, outputs and logs. One that still runs or waits for a review is never deleted."
    >
      <LoadFailure query={saved} />
      {saved.isPending && <Skeleton className="h-16" />}
      {days !== undefined && (
        <LimitForm
          key={days}
          name="retention_days"
          saved={days}
          initialValue={FIRST_DAYS}
          max={3650}
          switchLabel="Delete old runs"
          switchHint="Off, every run is kept. Once an hour what is too old is deleted."
          label="Keep them for"
          hint="Days after a run has ended, 1 to 3650"
          className="max-w-40"
          saveLabel="Save run history"
          savedMessage={(kept) => (kept === null ? "Runs are kept for ever" : `Runs are kept for ${kept} days`)}
        />
      )}
    </SettingsSection>
  );
}

interface LimitFormProps {
  name: keyof typeof SCHEMAS;
  saved: number | null;
  /** What the switch starts with where nothing was saved. */
  initialValue: number;
  max: number;
  switchLabel: string;
  switchHint: string;
  label: string;
  hint: string;
  className: string;
  saveLabel: string;
  /** What is said when it is saved. */
  savedMessage: (value: number | null) => string;
  children?: ReactNode;
}

/** A number of the project that can be switched off. */
function LimitForm(props: LimitFormProps) {
  const { name, saved, initialValue, max, switchLabel, switchHint, label, hint, className, saveLabel, savedMessage, children } = props;
  const { trpc, client, cache } = useApi();
  const { project, canAdminister } = useStudio();
  const form = useForm({
    // cast: both have one field of this kind, and which one is told by its name
    schema: SCHEMAS[name] as unknown as LaterSchema<z.ZodObject<Record<string, z.ZodNullable<z.ZodNumber>>>>,
    initial: { [name]: saved },
    submit: async (values) => {
      await client.projects.update.mutate({ project_id: project.id, ...values });
      // First read again: the form begins anew with what was saved, and must not do so under somebody's hands.
      await Promise.all([
        cache.invalidateQueries(trpc.projects.get.pathFilter()),
        cache.invalidateQueries(trpc.projects.hour.pathFilter()),
      ]);
      toast.success(savedMessage(values[name] ?? null));
    },
  });
  const value = form.values[name] ?? null;
  return (
    <Form form={form}>
      <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
      {children}
      <Checkbox
        label={switchLabel}
        hint={switchHint}
        checked={value !== null}
        onCheckedChange={(checked) => form.set(name, checked ? (saved ?? initialValue) : null)}
        disabled={!canAdminister || form.isPending}
      />
      {value !== null && (
        <FormField form={form} name={name} label={label} hint={hint} className={className}>
          <Input
            type="number"
            inputMode="numeric"
            min={1}
            max={max}
            value={Number.isNaN(value) ? "" : value}
            onChange={(event) => form.set(name, event.target.valueAsNumber)}
            disabled={!canAdminister}
            readOnly={form.isPending}
          />
        </FormField>
      )}
      <FormFailure failure={form.failure} />
      {canAdminister && (
        <Button type="submit" isPending={form.isPending} disabled={!form.isDirty} className="self-start">
          {saveLabel}
        </Button>
      )}
    </Form>
  );
}

const PARTS = [
  ["runs", "Runs, with inputs, outputs and logs"],
  ["documents", "Documents, with their vectors"],
  ["workflows", "Workflows, all versions, and threads"],
  ["other", "Agent versions, skills, tool lists, kept answers and the audit log"],
] as const;

/** How much a project holds, and may hold. */
function StorageSettings() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const { data, error, isPending, refetch } = useQuery(trpc.projects.storage.queryOptions({ project_id: project.id }));
  return (
    <SettingsSection
      title="Storage"
      description="A project that holds as much as it may starts no run and takes no document. Keep runs for a shorter time, or delete documents. Measured once a minute."
    >
      <LoadFailure query={{ error, refetch }} />
      {isPending && <Skeleton className="h-24" />}
      {data && (
        <>
          <p className="text-14">
            {data.quota === null
              ? `${formatBytes(data.used)}, without a limit.`
              : `${formatBytes(data.used)} of ${formatBytes(data.quota)} used.`}
          </p>
          {data.quota !== null && (
            <progress
              aria-label="Storage used"
              value={Math.min(data.used, data.quota)}
              max={data.quota}
              className="h-2 w-full max-w-100 appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-thread [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-thread"
            />
          )}
          <dl className="grid max-w-100 grid-cols-[1fr_auto] gap-x-4 gap-y-1 text-14">
            {PARTS.map(([name, label]) => (
              <div key={name} className="contents">
                <dt className="text-ink-soft">{label}</dt>
                <dd className="text-right tabular-nums">{formatBytes(data[name])}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </SettingsSection>
  );
}
