"use client";

import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { z } from "zod";
import { AbilityFields } from "#components/agents/ability-fields.tsx";
import type { AgentForm as AgentFormSchema } from "#components/agents/agent-form-schema.ts";
import { EXAMPLE_SCHEMA } from "#components/agents/agent-values.ts";
import { KeyPicker, ModelPicker } from "#components/agents/model-choice.tsx";
import { PromptPreviewButton } from "#components/agents/prompt-preview-button.tsx";
import { PublishBar } from "#components/agents/publish-bar.tsx";
import { type AgentEditing, type AgentFormOptions, useAgentForm } from "#components/agents/use-agent-form.ts";
import { FormField } from "#components/forms/form-field.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Time } from "#components/ui/time.tsx";

const abilitiesOf = ({ tools = [], mcp_server_ids = [], rag_ids = [], skill_ids = [] }: z.input<typeof AgentFormSchema>) => ({
  tools,
  mcp_server_ids,
  rag_ids,
  skill_ids,
});

export interface AgentEditorProps extends AgentFormOptions {
  /** Says whether something is not published, and whether that would be lost by leaving. */
  draftRef?: RefObject<{ isDirty: boolean; isKept: boolean }>;
}

/** The form of a new agent, or of the one given, in a dialog. */
export function AgentEditor({ draftRef, ...options }: AgentEditorProps) {
  const editing = useAgentForm(options);
  const { isKept } = editing;
  const { isDirty } = editing.form;
  useLayoutEffect(() => {
    if (draftRef) draftRef.current = { isDirty, isKept };
  }, [isDirty, isKept, draftRef]);
  return <AgentForm editing={editing} />;
}

/** The fields of an agent, and what becomes of them. */
export function AgentForm({ editing, hasShortcut = false }: { editing: AgentEditing; hasShortcut?: boolean }) {
  const { form, base, isKept, foundSince, discard } = editing;
  const { canEdit } = useStudio();
  const element = useRef<HTMLFormElement>(null);
  useSaveShortcut(element, hasShortcut && canEdit && form.isDirty);
  // Nobody has filled this in: closing the form loses nothing.
  const takeOnlyKey = (llm_key_id: string) =>
    form.isDirty
      ? form.set("llm_key_id", llm_key_id)
      : // What was found of a draft may be about to come in.
        form.reset({ ...form.values, llm_key_id }, (values) => ({ ...values, llm_key_id: values.llm_key_id || llm_key_id }));
  const setModel = (model: string) => form.set("model", model);

  return (
    <form
      ref={element}
      onSubmit={form.onSubmit}
      onInput={form.prepare}
      noValidate
      aria-label={base ? `Agent ${base.name}` : "New agent"}
      className="@container flex min-w-0 flex-col gap-5"
    >
      <UnsavedGuard isDirty={form.isDirty && !form.isPending && !isKept} />
      {foundSince !== null && (
        <Notice
          actions={
            <Button size="sm" onClick={discard}>
              {base ? "Discard it" : "Start afresh"}
            </Button>
          }
        >
          {base ? "What you changed " : "What you filled in "}
          <Time value={foundSince} /> is still here{base ? "; no run asks it before you publish." : "."}
        </Notice>
      )}
      <fieldset disabled={!canEdit} className="flex min-w-0 flex-col gap-5">
        <FormField form={form} name="name" hint="Expressions read the answer by this name." autoComplete="off" autoFocus={!base} />
        <div className="grid @md:grid-cols-2 gap-5">
          <FormField form={form} name="llm_key_id" hint={null}>
            <KeyPicker
              value={form.values.llm_key_id}
              onValueChange={(id) => form.set("llm_key_id", id)}
              disabled={!canEdit}
              onOnlyKey={base ? undefined : takeOnlyKey}
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
        <div className="grid @md:grid-cols-2 gap-5">
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
        <PublishBar editing={editing} />
      ) : (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="text-12 text-ink-soft">You may look, not change: an editor or admin of the project can.</p>
          <PromptPreviewButton values={form.values} />
        </div>
      )}
    </form>
  );
}

/** Cmd or Ctrl S sends the form, and never saves the page. */
function useSaveShortcut(form: React.RefObject<HTMLFormElement | null>, isOn: boolean): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
      // A dialog in front has a form of its own.
      if (event.defaultPrevented || document.querySelector("[role=dialog], [role=alertdialog]")) return;
      event.preventDefault();
      if (isOn) form.current?.requestSubmit();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [form, isOn]);
}
