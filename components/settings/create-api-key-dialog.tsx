"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { z } from "zod";
import { FormField } from "#components/forms/form-field.tsx";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { ProjectChoice, ScopeChoice } from "#components/settings/key-limits.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyField } from "#components/ui/copy-field.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Select } from "#components/ui/select.tsx";
import { type CreatedPlatformKey, CreatePlatformKeyInput } from "#server/platform/auth/platform-key-schema.ts";

type Created = z.infer<typeof CreatedPlatformKey>;

/** How long a key may last, in days. */
const lives = { "30": "30 days", "90": "90 days", "365": "1 year", never: "Never" } as const;
type Life = keyof typeof lives;
const lifeOptions = (["30", "90", "365", "never"] as const).map((value) => ({ value, label: lives[value] }));

const endOf = (life: Life): string | null =>
  life === "never" ? null : new Date(Date.now() + Number(life) * 24 * 60 * 60 * 1000).toISOString();

/** Creates a key and shows it, this once. */
export function CreateApiKeyDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const { project } = useStudio();
  const [created, setCreated] = useState<Created | null>(null);
  const change = (next: boolean) => {
    onOpenChange(next);
    if (!next) setCreated(null);
  };
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={created ? "Copy your API key now" : "Create API key"}
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
            <Button variant="primary" onClick={() => change(false)}>
              Done
            </Button>
          </DialogFooter>
        </>
      ) : (
        <CreateForm onCreated={setCreated} />
      )}
    </Dialog>
  );
}

function CreateForm({ onCreated }: { onCreated: (key: Created) => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const [life, setLife] = useState<Life>("90");
  const form = useForm({
    schema: CreatePlatformKeyInput,
    initial: { name: "", scopes: ["read", "run", "write"], project_ids: null },
    submit: async (value) => {
      onCreated(await client.platformKeys.create.mutate({ ...value, expires_at: endOf(life) }));
      await cache.invalidateQueries(trpc.platformKeys.list.pathFilter());
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
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
      <ProjectChoice
        value={form.values.project_ids ?? null}
        onValueChange={(project_ids) => form.set("project_ids", project_ids)}
        error={form.errorOf("project_ids")}
      />
      <FormFooter form={form}>Create key</FormFooter>
    </form>
  );
}
