"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
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
import { UpdateProjectInput } from "#server/features/projects/schema.ts";

const RetentionForm = UpdateProjectInput.pick({ retention_days: true }).required();
/** What the switch starts with. */
const FIRST_DAYS = 90;

/** For how long a project keeps its runs. */
export function RetentionSettings() {
  const trpc = useTRPC();
  const { project } = useStudio();
  const saved = useQuery(trpc.projects.get.queryOptions({ project_id: project.id }));
  return (
    <SettingsSection
      title="Run history"
      description="Runs that ended longer ago than you keep them are deleted for good, with their inputs, outputs and logs. One that still runs or waits for a review is never deleted."
    >
      {saved.isError && <LoadFailure error={saved.error} onRetry={() => void saved.refetch()} />}
      {saved.isPending && <Skeleton className="h-16" />}
      {saved.data && <DaysForm key={saved.data.retention_days} days={saved.data.retention_days} />}
    </SettingsSection>
  );
}

function DaysForm({ days }: { days: number | null }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const { project, canAdminister } = useStudio();
  const form = useForm({
    schema: RetentionForm,
    initial: { retention_days: days },
    submit: async (value) => {
      await client.projects.update.mutate({ project_id: project.id, ...value });
      // First read again: the form begins anew with what was saved, and must not do so under somebody's hands.
      await cache.invalidateQueries(trpc.projects.get.pathFilter());
      toast.success(value.retention_days === null ? "Runs are kept for ever" : `Runs are kept for ${value.retention_days} days`);
    },
  });
  const { retention_days } = form.values;
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
      <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
      <Checkbox
        label="Delete old runs"
        hint="Off, every run is kept. Once an hour what is too old is deleted."
        checked={retention_days !== null}
        onCheckedChange={(checked) => form.set("retention_days", checked ? (days ?? FIRST_DAYS) : null)}
        disabled={!canAdminister || form.isPending}
      />
      {retention_days !== null && (
        <FormField
          form={form}
          name="retention_days"
          label="Keep them for"
          hint="Days after a run has ended, 1 to 3650"
          className="max-w-40"
        >
          <Input
            type="number"
            inputMode="numeric"
            min={1}
            max={3650}
            value={Number.isNaN(retention_days) ? "" : retention_days}
            onChange={(event) => form.set("retention_days", event.target.valueAsNumber)}
            disabled={!canAdminister}
            readOnly={form.isPending}
          />
        </FormField>
      )}
      <FormFailure failure={form.failure} />
      {canAdminister && (
        <Button type="submit" isPending={form.isPending} disabled={!form.isDirty} className="self-start">
          Save run history
        </Button>
      )}
    </form>
  );
}
