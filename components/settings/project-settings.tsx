"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { toast } from "sonner";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { ExecutorSettings } from "#components/settings/executor-settings.tsx";
import { HourSettings } from "#components/settings/hour-settings.tsx";
import { RetentionSettings } from "#components/settings/retention-settings.tsx";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { StorageSettings } from "#components/settings/storage-settings.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { CopyField } from "#components/ui/copy-field.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { UpdateProjectInput } from "#server/features/projects/schema.ts";

const ProjectForm = UpdateProjectInput.pick({ name: true, slug: true }).required();

export function ProjectSettings() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const { project, canAdminister } = useStudio();
  const [isDeleting, setIsDeleting] = useState(false);
  const [typed, setTyped] = useState("");
  const remove = useMutation(trpc.projects.delete.mutationOptions());
  const form = useForm({
    schema: ProjectForm,
    initial: { name: project.name, slug: project.slug },
    submit: async (value) => {
      await client.projects.update.mutate({ project_id: project.id, ...value });
      toast.success("Project saved");
      router.refresh();
    },
  });
  return (
    <>
      <SettingsSection title="Project">
        {!canAdminister && <Notice>Only admins change these; you are {project.role} in this project.</Notice>}
        <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
          <UnsavedGuard isDirty={form.isDirty && !form.isPending} />
          <fieldset disabled={!canAdminister} className="flex flex-col gap-4">
            <FormField form={form} name="name" hint={null} autoComplete="off" />
            <FormField
              form={form}
              name="slug"
              hint="What your calls to the API send as X-Project-Slug. After a change every member’s calls must send the new one."
              autoComplete="off"
              isCode
            />
          </fieldset>
          <CopyField
            label="Project ID"
            hint="Never changes; calls may send it as X-Project-ID instead of the slug."
            value={project.id}
            what="project ID"
          />
          <FormFailure failure={form.failure} />
          {canAdminister && (
            <Button type="submit" variant="primary" isPending={form.isPending} disabled={!form.isDirty} className="self-start">
              Save
            </Button>
          )}
        </form>
      </SettingsSection>
      <RetentionSettings />
      <StorageSettings />
      <HourSettings />
      <ExecutorSettings />
      {canAdminister && (
        <SettingsSection
          title="Delete this project"
          description="Its workflows, agents, runs, keys and audit log are deleted for good, for every member."
          action={
            <Button
              onClick={() => {
                setTyped("");
                setIsDeleting(true);
              }}
              className="text-failed"
            >
              Delete project
            </Button>
          }
        >
          {null}
        </SettingsSection>
      )}
      <ConfirmDialog
        open={isDeleting}
        onOpenChange={setIsDeleting}
        title={`Delete project “${project.name}”?`}
        confirmLabel="Delete project"
        isReady={typed.trim() === project.name}
        onConfirm={async () => {
          await remove.mutateAsync({ project_id: project.id });
          location.assign("/");
        }}
      >
        <p>
          It is gone for every member at once: what runs is cancelled, schedules stop, and webhooks answer 401. Workflows, agents, runs,
          keys and the audit log are deleted. This cannot be undone.
        </p>
        <Field label={`Type the project's name, ${project.name}, to confirm`} className="mt-3">
          <Input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" />
        </Field>
      </ConfirmDialog>
    </>
  );
}
