"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Form, FormFailure } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { ExecutorFacts } from "#components/runs/executor-banner.tsx";
import { AssistantSettings } from "#components/settings/assistant-settings.tsx";
import { ErrorWorkflowSettings } from "#components/settings/error-workflow-settings.tsx";
import { projectForm } from "#components/settings/settings-form.gen.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { toast } from "#components/ui/toaster.tsx";

const ConfirmDialog = loadedOnUse(() => import("#components/ui/confirm-dialog.tsx").then((module) => module.ConfirmDialog));

export function ProjectSettings() {
  const { trpc, client } = useApi();
  const router = useRouter();
  const { project, canAdminister } = useStudio();
  const [isDeleting, setIsDeleting] = useState(false);
  const [typed, setTyped] = useState("");
  const remove = useMutation(trpc.projects.delete.mutationOptions());
  const form = useForm({
    schema: projectForm,
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
        <Form form={form}>
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
        </Form>
      </SettingsSection>
      <AssistantSettings />
      <ErrorWorkflowSettings />
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
      {isDeleting && (
        <ConfirmDialog
          onClose={() => setIsDeleting(false)}
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
      )}
    </>
  );
}

const LOOK_AGAIN_MS = 10_000;

/** How it stands with the Inngest server that carries the runs of this install; nothing where none is named. */
export function ExecutorSettings() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.install.executor.queryOptions({}, { refetchInterval: LOOK_AGAIN_MS }));
  if (data?.kind !== "inngest") return null;
  return (
    <SettingsSection title="Inngest server" description="It carries the runs of every project of this install.">
      {data.problem !== null && <Notice tone="waiting">{data.problem}</Notice>}
      {data.problem === null && data.called_at !== null && <Notice tone="complete">The connection works.</Notice>}
      {data.problem === null && data.called_at === null && <Notice>It has not called yet. It does so every minute.</Notice>}
      <ExecutorFacts contact={data} />
    </SettingsSection>
  );
}
