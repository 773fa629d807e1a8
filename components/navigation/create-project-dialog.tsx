"use client";

import { Form, FormFooter } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { openProject } from "#components/shell/project-cookie.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { CreateProjectInput } from "#server/features/projects/schema.ts";

export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="New project" description="Agents, workflows, keys and members belong to one project." size="sm">
      <CreateProjectForm />
    </Dialog>
  );
}

/** Creates a project and opens it. */
export function CreateProjectForm() {
  const client = useTRPCClient();
  const form = useForm({
    schema: CreateProjectInput.pick({ name: true }),
    initial: { name: "" },
    submit: async (value) => {
      const project = await client.projects.create.mutate(value);
      openProject(project.id);
    },
  });
  return (
    <Form form={form}>
      <FormField form={form} name="name" hint={null} autoFocus autoComplete="off" />
      <FormFooter form={form}>Create project</FormFooter>
    </Form>
  );
}
