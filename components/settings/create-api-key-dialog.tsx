"use client";

import { type ReactNode, useState } from "react";
import type { z } from "zod";
import { Form, FormFooter } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { scopeOptions } from "#components/settings/key-scopes.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { FieldError } from "#components/ui/field.tsx";
import { Select } from "#components/ui/select.tsx";
import { type CreatedPlatformKey, CreatePlatformKeyInput, type KeyScope } from "#server/platform/auth/platform-key-schema.ts";

type Created = z.infer<typeof CreatedPlatformKey>;

/** How long a key may last, in days. */
const lives = { "30": "30 days", "90": "90 days", "365": "1 year", never: "Never" } as const;
type Life = keyof typeof lives;
const lifeOptions = (["30", "90", "365", "never"] as const).map((value) => ({ value, label: lives[value] }));

const endOf = (life: Life): string | null =>
  life === "never" ? null : new Date(Date.now() + Number(life) * 24 * 60 * 60 * 1000).toISOString();

/**
 * Creates a key and shows it, this once.
 * @param account the service account that it is for; left out, it is one's own
 */
export function CreateApiKeyDialog({ account, onClose }: { account?: { id: string; name: string }; onClose: () => void }) {
  const { project } = useStudio();
  const [created, setCreated] = useState<Created | null>(null);
  return (
    <Dialog
      onClose={onClose}
      title={created ? "Copy the API key now" : account ? `Create API key of ${account.name}` : "Create API key"}
      {...(created && { description: "It is shown this once. Keep it where your program reads its secrets." })}
      isDismissable={created === null}
    >
      {created ? (
        <>
          <CopyField label="API key" value={created.key} what="API key" />
          <CodeBlock
            title="Try it"
            label="command"
            wraps
            code={`curl ${location.origin}/api/v1/workflows \\\n  -H "Authorization: Bearer ${created.key}" \\\n  -H "X-Project-Slug: ${project.slug}"`}
          />
          <DialogFooter>
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </DialogFooter>
        </>
      ) : (
        <CreateForm account={account} onCreated={setCreated} />
      )}
    </Dialog>
  );
}

function CreateForm({ account, onCreated }: { account: { id: string } | undefined; onCreated: (key: Created) => void }) {
  const { trpc, client, cache } = useApi();
  const [life, setLife] = useState<Life>("90");
  const form = useForm({
    schema: CreatePlatformKeyInput,
    initial: { name: "", scopes: ["read", "run", "write"], project_ids: null },
    submit: async ({ project_ids, ...value }) => {
      const key = { ...value, expires_at: endOf(life) };
      onCreated(
        account
          ? await client.serviceAccounts.createKey.mutate({ ...key, account_id: account.id })
          : await client.platformKeys.create.mutate({ ...key, project_ids }),
      );
      await cache.invalidateQueries((account ? trpc.serviceAccounts : trpc.platformKeys.list).pathFilter());
    },
  });
  return (
    <Form form={form}>
      <FormField
        form={form}
        name="name"
        hint="What will use it, so that you know later what stops when you delete it."
        placeholder="Nightly report"
        autoFocus
        autoComplete="off"
      />
      <FormField form={form} name="expires_at" label="Expires after" hint={null}>
        <Select value={life} onValueChange={setLife} options={lifeOptions} />
      </FormField>
      <ScopeChoice value={form.values.scopes ?? []} onValueChange={(scopes) => form.set("scopes", scopes)} error={form.errorOf("scopes")} />
      {!account && (
        <ProjectChoice
          value={form.values.project_ids ?? null}
          onValueChange={(project_ids) => form.set("project_ids", project_ids)}
          error={form.errorOf("project_ids")}
        />
      )}
      <FormFooter form={form}>Create key</FormFooter>
    </Form>
  );
}

function Choices({ legend, error, children }: { legend: string; error?: string | undefined; children: ReactNode }) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 font-semibold text-12 text-ink">{legend}</legend>
      {children}
      <FieldError>{error}</FieldError>
    </fieldset>
  );
}

interface ChoiceProps<Value> {
  value: Value;
  onValueChange: (value: Value) => void;
  error?: string | undefined;
}

/** What the key may do; each scope stands for itself. */
export function ScopeChoice({ value, onValueChange, error }: ChoiceProps<KeyScope[]>) {
  const toggled = (scope: KeyScope, isOn: boolean) =>
    scopeOptions.map((option) => option.value).filter((one) => (one === scope ? isOn : value.includes(one)));
  return (
    <Choices legend="May" error={error}>
      {scopeOptions.map(({ value: scope, label, hint }) => (
        <Checkbox
          key={scope}
          label={label}
          hint={hint}
          checked={value.includes(scope)}
          onCheckedChange={(isOn) => onValueChange(toggled(scope, isOn))}
        />
      ))}
    </Choices>
  );
}

/** Which projects the key opens; null for all, also those to come. */
export function ProjectChoice({ value, onValueChange, error }: ChoiceProps<string[] | null>) {
  const { project, projects } = useStudio();
  return (
    <Choices legend="Projects" error={error}>
      <Checkbox
        label="All of mine"
        hint="Also those that you make or join later"
        checked={value === null}
        onCheckedChange={(isOn) => onValueChange(isOn ? null : [project.id])}
      />
      {value !== null && (
        <ul className="flex max-h-40 flex-col gap-2 overflow-y-auto rounded-md border bg-raised p-3">
          {projects.map(({ id, name }) => (
            <li key={id}>
              <Checkbox
                label={name}
                checked={value.includes(id)}
                onCheckedChange={(isOn) => onValueChange(isOn ? [...value, id] : value.filter((one) => one !== id))}
              />
            </li>
          ))}
        </ul>
      )}
    </Choices>
  );
}
