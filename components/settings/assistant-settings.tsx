"use client";

import { useQuery } from "@tanstack/react-query";
import { KeyPicker, ModelPicker } from "#components/agents/model-choice.tsx";
import { Form, FormSubmit } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { assistantForm } from "#components/settings/assistant-form.gen.ts";
import { SettingsSection } from "#components/settings/settings-section.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { AssistantSettings as Settings } from "#server/features/assistant/schema.ts";

/** On which key and model the project's assistant works, in the project's settings. */
export function AssistantSettings() {
  const trpc = useTRPC();
  const { canAdminister } = useStudio();
  const settings = useQuery(trpc.assistant.settings.queryOptions({}));
  const { data } = settings;
  return (
    <div id="assistant" className="scroll-mt-8">
      <SettingsSection
        title="Assistant"
        description="It answers, builds and repairs on one of the project's LLM keys. It acts with the name and role of the person who asks."
      >
        <LoadFailure query={settings} />
        {settings.isPending && <Skeleton className="h-24" />}
        {data && !data.ready && data.problem !== undefined && <Notice tone="waiting">{data.problem}</Notice>}
        {data && canAdminister && <AssistantForm settings={data} />}
        {data && !canAdminister && data.ready && <p className="text-14">It works on the model {data.model}.</p>}
      </SettingsSection>
    </div>
  );
}

/** The form for admins: here, and where somebody wants to use an assistant that nobody has set up. */
export function AssistantForm({ settings }: { settings: Settings }) {
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: assistantForm,
    initial: { llm_key_id: settings.llm_key_id, model: settings.model },
    submit: async (value) => {
      const saved = await client.assistant.updateSettings.mutate(value);
      cache.setQueryData(trpc.assistant.settings.queryKey({}), saved);
      toast.success("Assistant saved");
    },
  });
  const keyId = form.values.llm_key_id ?? "";
  return (
    <Form form={form}>
      <FormField form={form} name="llm_key_id" label="LLM key" hint={null}>
        <KeyPicker value={keyId} onValueChange={(id) => form.set("llm_key_id", id)} onOnlyKey={(id) => form.set("llm_key_id", id)} />
      </FormField>
      <FormField form={form} name="model" hint="One that can call tools; the better it is, the better is what it builds.">
        <ModelPicker keyId={keyId} value={form.values.model} onValueChange={(model) => form.set("model", model)} />
      </FormField>
      <FormSubmit form={form} variant="primary" disabled={!form.isDirty || keyId === ""} className="self-start">
        Save
      </FormSubmit>
    </Form>
  );
}
