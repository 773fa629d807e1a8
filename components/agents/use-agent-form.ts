"use client";

import { useRouter } from "next/navigation";
import { useEffect, useLayoutEffect, useState } from "react";
import { type AgentDraft, draftId, dropDraft, keepDraft, readDraft } from "#components/agents/agent-draft.ts";
import { agentForm } from "#components/agents/agent-form.gen.ts";
import type { AgentForm } from "#components/agents/agent-form-schema.ts";
import {
  type AgentSuggestion,
  type ConcurrentChanges,
  changedFields,
  type Field,
  formValues,
  mergeForm,
  needsCheckCall,
  requestOf,
  type Values,
} from "#components/agents/agent-values.ts";
import { formatChanged } from "#components/changed-names.ts";
import { type UseFormReturn, useForm } from "#components/forms/use-form.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Agent } from "#server/features/agents/schema.ts";

export interface AgentFormOptions {
  /** The agent to change; left out, a new one is made. */
  agent?: Agent | undefined;
  /** What a new agent begins with. */
  suggestion?: AgentSuggestion | undefined;
  /** Called with what was published; a new agent's page is not gone to then. */
  onSaved?: ((agent: Agent) => void) | undefined;
}

/** The form of an agent: a draft on the screen, on top of the version that is published. */
export interface AgentEditing {
  form: UseFormReturn<typeof AgentForm>;
  /** The published version that the draft is a change of; undefined of a new agent. */
  base: Agent | undefined;
  /** Fields in which the draft is another. */
  changed: Field[];
  meanwhile: ConcurrentChanges | null;
  /** Since when what stands here was left unpublished, of a draft that this visit has found. */
  foundSince: string | null;
  /** Whether the browser keeps the draft, so that leaving loses nothing. */
  isKept: boolean;
  /** Takes the draft back to what is published; that can be undone. */
  discard: () => void;
  /** Puts a version's configuration into the draft; the name stays. That can be undone. */
  takeVersion: (version: number, config: AgentSuggestion) => void;
}

/** @param options of one agent: for another one the component needs another key */
export function useAgentForm({ agent, suggestion, onSaved }: AgentFormOptions): AgentEditing {
  const { trpc, client, cache } = useApi();
  const router = useRouter();
  const { user, project } = useStudio();
  // What the form began with. The page may load the agent again at any time, and what others saved is no part of the form then.
  const [base, setBase] = useState(agent);
  const [meanwhile, setMeanwhile] = useState<ConcurrentChanges | null>(null);
  const form = useForm({
    schema: agentForm,
    initial: formValues(agent ?? suggestion),
    submit: async (filledIn) => {
      const value = requestOf(filledIn);
      setMeanwhile(null);
      let saved: Agent;
      if (base) {
        const { id: agent_id, version } = base;
        const { workflows_changed, ...agent } = await client.agents.update
          .mutate({ agent_id, ...value, version })
          .catch(async (error: unknown) => {
            await takeIn(base, error);
            throw error;
          });
        saved = agent;
        const notes = [
          needsCheckCall(base, value) && "The model answered a check call.",
          workflows_changed.total > 0 && `The new name was written into ${formatChanged(workflows_changed)}.`,
        ].filter((note) => note !== false);
        toast.success(`Version ${saved.version} published`, notes.length ? { description: notes.join(" ") } : {});
      } else {
        saved = await client.agents.create.mutate(value);
        toast.success(`Agent “${saved.name}” created`, { description: "The model answered a check call." });
      }
      draft.drop();
      cache.setQueryData(trpc.agents.get.queryKey({ agent_id: saved.id }), saved);
      if (!base && !onSaved) router.replace(`/agents/${saved.id}`);
      await cache.invalidateQueries(trpc.agents.list.pathFilter());
      await cache.invalidateQueries(trpc.agents.versions.pathFilter());
      if (base) setBase(saved);
      onSaved?.(saved);
    },
  });

  /** Changes of others come into the form, and what was changed in it stays. */
  const merge = (before: Values, theirs: Agent, said: string, mine: typeof form.values, current = (values: typeof mine) => values) => {
    const merged = (values: typeof mine) => mergeForm({ before, mine: values, theirs: formValues(theirs) });
    form.reset(formValues(theirs), (values) => merged(current(values)).values);
    setBase(theirs);
    const { values, ...differences } = merged(mine);
    // What was published meanwhile may be this very draft.
    setMeanwhile(changedFields(formValues(theirs), values).length > 0 ? { said, ...differences } : null);
  };
  /** After a refusal because others saved. */
  const takeIn = async (before: Agent, error: unknown) => {
    const said = errorBodyOf(error).errors?.find(({ path }) => path === "version")?.message;
    if (said === undefined) return;
    const theirs = await client.agents.get.query({ agent_id: before.id });
    cache.setQueryData(trpc.agents.get.queryKey({ agent_id: before.id }), theirs);
    void cache.invalidateQueries(trpc.agents.list.pathFilter());
    // Typing goes on while a save is under way.
    merge(formValues(before), theirs, said, form.values);
  };
  const draft = useKeptDraft({
    // A suggestion is offered again by whoever made it.
    id: suggestion ? null : draftId(user.id, project.id, agent?.id),
    form,
    before: base ? formValues(base) : null,
    onFound: ({ values, before }) => {
      const isOld = base && before && changedFields(before, formValues(base)).length > 0;
      if (isOld) merge(before, base, "This agent was published again since you began this draft.", values, () => values);
      else form.reset(formValues(base), () => values);
    },
  });
  const published = formValues(base ?? suggestion);
  /** Changes what stands in the form, with a way back. */
  const replace = (next: Values, said: string, description?: string) => {
    const typed = form.values;
    form.reset(published, () => next);
    setMeanwhile(null);
    const action = { label: "Undo", onClick: () => form.reset(published, () => typed) };
    toast.message(said, { action, ...(description !== undefined && { description }) });
  };
  return {
    form,
    base,
    changed: changedFields(published, form.values),
    meanwhile,
    foundSince: form.isDirty ? draft.foundSince : null,
    isKept: draft.isKept,
    discard: () => replace(published, "Your changes are discarded"),
    takeVersion: (version, config) =>
      replace(
        { ...formValues(config), name: form.values.name },
        `Version ${version} is in the draft`,
        "Publish makes it the agent’s next version.",
      ),
  };
}

interface KeptDraftOptions {
  /** Null keeps nothing. */
  id: string | null;
  form: UseFormReturn<typeof AgentForm>;
  before: Values | null;
  /** Given what was left here, once the form is there. */
  onFound: (draft: AgentDraft) => void;
}

/** Keeps what stands in a form in the browser until it is published or taken back, and finds it again. */
function useKeptDraft({ id, form, before, onFound }: KeptDraftOptions) {
  const [state, setState] = useState<{ isRead: boolean; isKept: boolean; foundSince: string | null }>({
    isRead: false,
    isKept: id !== null,
    foundSince: null,
  });
  // After the first drawing: the server's HTML knows nothing of the browser's storage.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the form is there
  useLayoutEffect(() => {
    const found = id === null ? null : readDraft(id);
    if (found) onFound(found);
    setState((now) => ({ ...now, isRead: true, foundSince: found?.at ?? null }));
  }, []);
  const { values, isDirty, isPending } = form;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it began from changes with the values
  useEffect(() => {
    // While it is published it is as good as gone: what comes of that says whether it stays.
    if (id === null || !state.isRead || isPending) return;
    if (!isDirty) {
      dropDraft(id);
      // What is written from now on was not found here.
      setState((now) => (now.foundSince === null ? now : { ...now, foundSince: null }));
      return;
    }
    const isKept = keepDraft(id, values, before);
    setState((now) => (now.isKept === isKept ? now : { ...now, isKept }));
  }, [id, state.isRead, values, isDirty, isPending]);
  return { ...state, drop: () => id !== null && dropDraft(id) };
}
