"use client";

import { useRouter } from "next/navigation";
import { useLayoutEffect, useRef, useState } from "react";
import type { z } from "zod";
import { AbilityFields } from "#components/agents/ability-fields.tsx";
import {
  AgentForm,
  type AgentSuggestion,
  type ConcurrentChanges,
  EXAMPLE_SCHEMA,
  type Field,
  formValues,
  mergeForm,
  needsCheckCall,
  requestOf,
} from "#components/agents/agent-form-schema.ts";
import { KeyPicker, ModelPicker } from "#components/agents/model-choice.tsx";
import { PromptPreviewButton } from "#components/agents/prompt-preview.tsx";
import { describeField } from "#components/forms/describe-field.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Agent } from "#server/features/agents/schema.ts";

const abilitiesOf = ({ tools = [], mcp_server_ids = [], rag_ids = [], skill_ids = [] }: z.input<typeof AgentForm>) => ({
  tools,
  mcp_server_ids,
  rag_ids,
  skill_ids,
});

export interface AgentEditorProps {
  agent?: Agent;
  /** What a new agent begins with. */
  suggestion?: AgentSuggestion;
  onDirtyChange?: (isDirty: boolean) => void;
  /** Called with what was saved; a new agent's page is not gone to then. */
  onSaved?: (agent: Agent) => void;
}

/** The form of a new agent, or of the one given. */
export function AgentEditor({ agent, suggestion, onDirtyChange, onSaved }: AgentEditorProps) {
  const { trpc, client, cache } = useApi();
  const router = useRouter();
  const { canEdit } = useStudio();
  // What the form began with. The page may load the agent again at any time, and what others saved is no part of the form then.
  const [base, setBase] = useState(agent);
  const [meanwhile, setMeanwhile] = useState<ConcurrentChanges | null>(null);
  const saveButton = useRef<HTMLButtonElement>(null);
  const form = useForm({
    schema: AgentForm,
    initial: formValues(agent ?? suggestion),
    submit: async (filledIn) => {
      const value = requestOf(filledIn);
      let saved: Agent;
      setMeanwhile(null);
      if (base) {
        const { id: agent_id, updated_at: if_unchanged_since } = base;
        saved = await client.agents.update.mutate({ agent_id, ...value, if_unchanged_since }).catch(async (error: unknown) => {
          await takeIn(base, error);
          throw error;
        });
        cache.setQueryData(trpc.agents.get.queryKey({ agent_id }), saved);
        toast.success("Agent saved", needsCheckCall(base, value) ? { description: "The model answered a check call." } : {});
      } else {
        saved = await client.agents.create.mutate(value);
        cache.setQueryData(trpc.agents.get.queryKey({ agent_id: saved.id }), saved);
        toast.success(`Agent “${saved.name}” created`, { description: "The model answered a check call." });
        if (!onSaved) router.replace(`/agents/${saved.id}`);
      }
      await cache.invalidateQueries(trpc.agents.list.pathFilter());
      if (base) setBase(saved);
      onSaved?.(saved);
    },
  });
  /** After a refusal because others saved: their changes come into the form, and what was changed in it stays. */
  const takeIn = async (before: Agent, error: unknown) => {
    const said = errorBodyOf(error).errors?.find(({ path }) => path === "if_unchanged_since")?.message;
    if (said === undefined) return;
    const theirs = await client.agents.get.query({ agent_id: before.id });
    const merge = (mine: typeof form.values) => mergeForm({ before: formValues(before), mine, theirs: formValues(theirs) });
    cache.setQueryData(trpc.agents.get.queryKey({ agent_id: before.id }), theirs);
    void cache.invalidateQueries(trpc.agents.list.pathFilter());
    // Typing goes on while a save is under way.
    form.reset(formValues(theirs), (current) => merge(current).values);
    setBase(theirs);
    setMeanwhile({ said, ...merge(form.values) });
  };
  const takeTheirs = () => {
    if (!base) return;
    const typed = form.values;
    form.reset(formValues(base));
    setMeanwhile(null);
    saveButton.current?.focus(); // the button that was pressed is gone
    toast.message("Your changes are discarded", { action: { label: "Undo", onClick: () => form.reset(formValues(base), () => typed) } });
  };
  const isDirty = form.isDirty && !form.isPending;
  // Before the next key can be pressed: Escape asks when something has been typed.
  useLayoutEffect(() => onDirtyChange?.(form.isDirty), [form.isDirty, onDirtyChange]);
  // Nobody has filled this in: closing the form loses nothing.
  const takeOnlyKey = (llm_key_id: string) =>
    form.isDirty ? form.set("llm_key_id", llm_key_id) : form.reset({ ...form.values, llm_key_id });
  const setModel = (model: string) => form.set("model", model);

  return (
    <form
      onSubmit={form.onSubmit}
      noValidate
      aria-label={agent ? `Agent ${agent.name}` : "New agent"}
      className="flex min-w-0 flex-col gap-5"
    >
      <UnsavedGuard isDirty={isDirty} />
      <fieldset disabled={!canEdit} className="flex min-w-0 flex-col gap-5">
        <FormField form={form} name="name" hint="Expressions read the answer by this name." autoComplete="off" autoFocus={!agent} />
        <div className="grid gap-5 sm:grid-cols-2">
          <FormField form={form} name="llm_key_id" hint={null}>
            <KeyPicker
              value={form.values.llm_key_id}
              onValueChange={(id) => form.set("llm_key_id", id)}
              disabled={!canEdit}
              onOnlyKey={agent ? undefined : takeOnlyKey}
            />
          </FormField>
          <FormField form={form} name="model" hint={null}>
            <ModelPicker keyId={form.values.llm_key_id} value={form.values.model} onValueChange={setModel} disabled={!canEdit} />
          </FormField>
        </div>
        <FormField
          form={form}
          name="system_prompt"
          rows={10}
          placeholder="You read support mails and answer with one word: billing, bug or other."
        />
        <div className="grid gap-5 sm:grid-cols-2">
          <FormField form={form} name="temperature" hint="0 is steady, 2 is wild; empty leaves it to the model." isOptional />
          <FormField form={form} name="max_tokens" hint="In tokens; empty leaves it to the model." isOptional />
        </div>
        <AbilityFields
          keyId={form.values.llm_key_id}
          value={abilitiesOf(form.values)}
          onTools={(tools) => form.set("tools", tools)}
          onLinks={(name, ids) => form.set(name, ids)}
          errorOf={form.errorOf}
        />
        <FormField
          form={form}
          name="output_schema"
          rows={form.values.output_schema === "" ? 2 : 8}
          isCode
          isOptional
          hint="A JSON Schema that every answer must follow; empty for free text."
          placeholder='{ "type": "object", … }'
          action={
            canEdit &&
            form.values.output_schema === "" && (
              <Button variant="ghost" size="sm" onClick={() => form.set("output_schema", EXAMPLE_SCHEMA)}>
                Insert an example
              </Button>
            )
          }
        />
        <FormField form={form} name="description" rows={2} isOptional hint="For people; the model does not see it." />
      </fieldset>
      {canEdit ? (
        <div className="sticky bottom-(--foot,0px) -mx-1 flex flex-col gap-3 bg-linear-to-t from-85% from-(--ground,var(--paper)) to-transparent px-1 pt-5 pb-3">
          <div className="max-h-48 overflow-y-auto empty:hidden">
            {meanwhile ? (
              <SavedMeanwhile meanwhile={meanwhile} onTakeTheirs={takeTheirs} />
            ) : (
              <FormFailure
                failure={form.failure}
                title={form.failure?.error_code === "UPSTREAM_ERROR" ? "Not saved: the check call failed" : "Not saved"}
              />
            )}
          </div>
          <div className="flex flex-wrap items-center justify-between gap-3">
            <Button ref={saveButton} type="submit" variant="primary" isPending={form.isPending}>
              {agent ? "Save" : "Create agent"}
            </Button>
            <p role="status" className="min-w-0 flex-1 text-12 text-ink-soft max-sm:order-first max-sm:basis-full max-sm:empty:-mb-3">
              {form.isPending
                ? base && !needsCheckCall(base, form.values)
                  ? "Saving…"
                  : "Asking the model for a short answer, to see that key and model work…"
                : form.isDirty && agent
                  ? "Not saved yet"
                  : !agent && "Saving makes one short call to check key and model."}
            </p>
            <PromptPreviewButton values={form.values} />
          </div>
        </div>
      ) : (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="text-12 text-ink-soft">An editor or admin of the project can change agents.</p>
          <PromptPreviewButton values={form.values} />
        </div>
      )}
    </form>
  );
}

const LINKS: Partial<Record<Field, string>> = { mcp_server_ids: "MCP servers", rag_ids: "Knowledge", skill_ids: "Skills" };

const titlesOf = (fields: Field[]): string =>
  fields.map((field) => LINKS[field] ?? describeField(AgentForm.shape[field]).title ?? field).join(", ");

/** That others saved, what of it stands in the form now, and what to do. */
export function SavedMeanwhile({
  meanwhile: { said, taken, clashes },
  onTakeTheirs,
}: {
  meanwhile: ConcurrentChanges;
  onTakeTheirs: () => void;
}) {
  return (
    <Notice
      tone="failed"
      title="Not saved yet"
      actions={
        <Button size="sm" onClick={onTakeTheirs}>
          Discard my changes
        </Button>
      }
    >
      {[
        said,
        taken.length > 0 && `Now in this form as it was saved: ${titlesOf(taken)}.`,
        clashes.length > 0 && `Changed by you both: ${titlesOf(clashes)}. Yours stands in the form, and saving writes over the other.`,
        "Look it over, and save again.",
      ]
        .filter(Boolean)
        .join(" ")}
    </Notice>
  );
}
