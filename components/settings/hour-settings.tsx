"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { formatCount, plural } from "#components/format.ts";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFailure } from "#components/forms/form-footer.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { Input } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { type HourlyUse, UpdateProjectInput } from "#server/features/projects/schema.ts";

const HourForm = UpdateProjectInput.pick({ executions_per_hour: true }).required();
/** What the switch starts with where the install has no limit of its own. */
const FIRST = 100;

/** How many runs a project may start in an hour. */
export function HourSettings() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const saved = useQuery(trpc.projects.get.queryOptions({ project_id: project.id }));
  const hour = useQuery(trpc.projects.hour.queryOptions({ project_id: project.id }));
  const failed = [saved, hour].find(({ isError }) => isError);
  return (
    <SettingsSection
      title="Runs in an hour"
      description="What the API, webhooks, HTTP triggers and schedules may start. Beyond it they are refused until the hour has gone on. Runs of drafts and reruns in the app are not counted."
    >
      {failed?.error && <LoadFailure error={failed.error} onRetry={() => void failed.refetch()} />}
      {(saved.isPending || hour.isPending) && <Skeleton className="h-16" />}
      {saved.data && hour.data && <LimitForm key={saved.data.executions_per_hour} own={saved.data.executions_per_hour} hour={hour.data} />}
    </SettingsSection>
  );
}

function LimitForm({ own, hour }: { own: number | null; hour: HourlyUse }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const { project, canAdminister } = useStudio();
  const { limit, used, preset, most } = hour;
  const form = useForm({
    schema: HourForm,
    initial: { executions_per_hour: own },
    submit: async (value) => {
      await client.projects.update.mutate({ project_id: project.id, ...value });
      await Promise.all([
        cache.invalidateQueries(trpc.projects.get.pathFilter()),
        cache.invalidateQueries(trpc.projects.hour.pathFilter()),
      ]);
      toast.success("The limit is saved");
    },
  });
  const { executions_per_hour } = form.values;
  const usual = preset === null ? "without a limit" : formatCount(preset);
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
      <p className="text-13">
        {limit === null
          ? "There is no limit."
          : used < limit
            ? `${plural(used, "run")} of ${formatCount(limit)} started within the last hour.`
            : `All ${formatCount(limit)} of the last hour are used.`}
      </p>
      <Checkbox
        label="A limit of its own"
        hint={`Off, the project has the install’s: ${usual}${most === null ? "" : `, and never more than ${formatCount(most)}`}.`}
        checked={executions_per_hour !== null}
        onCheckedChange={(checked) => form.set("executions_per_hour", checked ? (own ?? preset ?? FIRST) : null)}
        disabled={!canAdminister || form.isPending}
      />
      {executions_per_hour !== null && (
        <FormField
          form={form}
          name="executions_per_hour"
          label="Runs in an hour"
          hint={most === null ? "1 to 1,000,000" : `1 to ${formatCount(most)}, the most that this install allows`}
          className="max-w-60"
        >
          <Input
            type="number"
            inputMode="numeric"
            min={1}
            max={most ?? 1_000_000}
            value={Number.isNaN(executions_per_hour) ? "" : executions_per_hour}
            onChange={(event) => form.set("executions_per_hour", event.target.valueAsNumber)}
            disabled={!canAdminister}
            readOnly={form.isPending}
          />
        </FormField>
      )}
      <FormFailure failure={form.failure} />
      {canAdminister && (
        <Button type="submit" isPending={form.isPending} disabled={!form.isDirty} className="self-start">
          Save limit
        </Button>
      )}
    </form>
  );
}
