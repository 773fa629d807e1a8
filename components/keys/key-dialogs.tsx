"use client";

import { useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { type RefObject, useRef } from "react";
import type { z } from "zod";
import { Form, FormDialog, FormFooter } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateLlmKeyInput, type LlmKey, type Provider } from "#server/features/llm-keys/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

type ProviderRow = z.infer<typeof Provider>;

interface AddKeyDialogProps {
  onClose: () => void;
  onAdded?: (key: LlmKey) => void;
}

/** Adds an LLM key; which fields there are is said by the provider registry. */
export function AddKeyDialog({ onClose, onAdded }: AddKeyDialogProps) {
  const trpc = useTRPC();
  const providers = useQuery(trpc.llmKeys.providers.queryOptions({}, { staleTime: Number.POSITIVE_INFINITY }));
  return (
    <Dialog
      onClose={onClose}
      title="Add LLM key"
      description="Shared by the project's members, stored encrypted, never shown again. It is tried with one call, which costs nothing."
    >
      <LoadFailure query={providers} />
      {providers.isPending && <Skeleton className="h-48" />}
      {providers.data && (
        <AddKeyForm
          providers={providers.data.items}
          onAdded={(key) => {
            onClose();
            onAdded?.(key);
          }}
        />
      )}
    </Dialog>
  );
}

/** Beside the words of a provider that did not take a key: to store it all the same, e.g. while there is no way to the provider. */
function SaveAnyway({ form, isForced }: { form: { failure: ErrorBody | null }; isForced: RefObject<boolean> }) {
  if (form.failure?.error_code !== "UPSTREAM_ERROR") return null;
  return (
    <Button
      type="submit"
      size="sm"
      onClick={() => {
        isForced.current = true;
      }}
    >
      Save anyway
    </Button>
  );
}

/** Whether this press of a button asks for the check; the next one does again. */
function takeForce(isForced: RefObject<boolean>): boolean {
  const force = isForced.current;
  isForced.current = false;
  return force;
}

function AddKeyForm({ providers, onAdded }: { providers: readonly ProviderRow[]; onAdded: (key: LlmKey) => void }) {
  const { trpc, client, cache } = useApi();
  const first = providers[0] as ProviderRow;
  const isForced = useRef(false);
  const form = useForm({
    schema: CreateLlmKeyInput,
    initial: { name: first.label, provider: first.id, api_key: "", base_url: undefined, api_version: undefined },
    submit: async (value) => {
      const verify = !takeForce(isForced);
      const key = await client.llmKeys.create.mutate({ ...value, api_version: value.api_version || undefined, verify });
      await cache.invalidateQueries(trpc.llmKeys.list.pathFilter());
      toast.success(`Key “${key.name}” added`);
      onAdded(key);
    },
  });
  const provider = providers.find(({ id }) => id === form.values.provider) ?? first;
  const choose = (id: ProviderRow["id"]) => {
    // The suggested name follows the provider until somebody writes a name of their own.
    if (form.values.name === provider.label) form.set("name", providers.find((row) => row.id === id)?.label ?? "");
    form.set("provider", id);
  };
  return (
    <Form form={form}>
      <FormField form={form} name="provider" label="Provider" hint={null}>
        <Select value={form.values.provider} onValueChange={choose} options={providers.map(({ id, label }) => ({ value: id, label }))} />
      </FormField>
      <FormField form={form} name="name" hint={null} autoComplete="off" />
      <FormField
        form={form}
        name="api_key"
        type="password"
        hint={provider.key_hint}
        autoComplete="off"
        isCode
        action={
          <a
            href={provider.docs_url}
            target="_blank"
            rel="noreferrer"
            className="inline-flex min-h-6 items-center gap-1 text-12 text-thread-text hover:underline"
          >
            Documentation
            <ExternalLink aria-hidden className="size-3" />
          </a>
        }
      />
      <FormField
        form={form}
        name="base_url"
        type="url"
        isOptional={!provider.requires_base_url}
        hint={
          provider.model_listing === "deployments"
            ? "Address of the resource, not of a single deployment"
            : provider.requires_base_url
              ? "Where chat completions are served, usually ending in /v1"
              : `Only for a gateway in front of ${provider.label}`
        }
        placeholder={provider.model_listing === "deployments" ? "https://my-resource.openai.azure.com" : "https://…/v1"}
        autoComplete="off"
      />
      {provider.model_listing === "deployments" && (
        <FormField form={form} name="api_version" isOptional hint={null} placeholder="2024-10-21" autoComplete="off" />
      )}
      {!provider.supports_tools && <p className="text-12 text-ink-faint">Models of {provider.label} are called without tools.</p>}
      <FormFooter form={form} failureActions={<SaveAnyway form={form} isForced={isForced} />}>
        Add key
      </FormFooter>
    </Form>
  );
}

const NewKey = CreateLlmKeyInput.pick({ api_key: true });

/** Gives an LLM key a new value, e.g. when the old one has leaked; agents that use it stay as they are. */
export function ReplaceKeyDialog({ llmKey, onClose }: { llmKey: LlmKey; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const isForced = useRef(false);
  const form = useForm({
    schema: NewKey,
    initial: { api_key: "" },
    submit: async ({ api_key }) => {
      await client.llmKeys.update.mutate({ key_id: llmKey.id, api_key, verify: !takeForce(isForced) });
      await cache.invalidateQueries(trpc.llmKeys.pathFilter());
      toast.success(`“${llmKey.name}” has a new value`);
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={`New value for “${llmKey.name}”`}
      description="Agents that use it stay as they are. The new value is tried first; the old one cannot be brought back."
      form={form}
      submitLabel="Replace key"
      failureActions={<SaveAnyway form={form} isForced={isForced} />}
    >
      <FormField
        form={form}
        name="api_key"
        type="password"
        hint={`${providerKind(llmKey.provider).keyHint}; now ${llmKey.masked_key}`}
        autoComplete="off"
        autoFocus
        isCode
      />
    </FormDialog>
  );
}
