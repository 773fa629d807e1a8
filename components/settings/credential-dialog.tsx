"use client";

import { Eye, EyeOff } from "lucide-react";
import { type ReactNode, useState } from "react";
import { FormDialog } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useApi, useTRPCClient } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateCredentialInput, type Credential, ReplaceCredentialInput } from "#server/features/credentials/schema.ts";

interface AddCredentialDialogProps {
  onClose: () => void;
  /** What it is to be called, where something names it already. */
  name?: string;
  onAdded?: (credential: Credential) => void;
}

/** Adds a credential. Its value is seen here and nowhere later. */
export function AddCredentialDialog({ onClose, name: wanted = "", onAdded }: AddCredentialDialogProps) {
  const { trpc, client, cache } = useApi();
  const form = useForm({
    schema: CreateCredentialInput,
    initial: { name: wanted, value: "" },
    submit: async (value) => {
      const added = await client.credentials.create.mutate(value);
      await cache.invalidateQueries(trpc.credentials.list.pathFilter());
      toast.success(`Credential ${added.name} added`);
      onClose();
      onAdded?.(added);
    },
  });
  const name = CreateCredentialInput.shape.name.safeParse(form.values.name);
  return (
    <FormDialog
      onClose={onClose}
      title="Add credential"
      description="Stored encrypted, for every workflow of the project. The value is never shown again."
      form={form}
      submitLabel="Add credential"
    >
      <FormField
        form={form}
        name="name"
        hint={
          <>
            Expressions read it as{" "}
            <code className="break-all font-mono text-ink-soft">{`{{credentials.${name.success ? name.data : "NAME"}}}`}</code>
          </>
        }
        placeholder="GITHUB_TOKEN"
        autoFocus
        autoComplete="off"
        isCode
      />
      <SecretField
        value={form.values.value}
        onValueChange={(value) => form.set("value", value)}
        error={form.errorOf("value")}
        hint="A token, a password, or all of a key file."
      />
    </FormDialog>
  );
}

const NewValue = ReplaceCredentialInput.pick({ value: true }).required();

/** Gives a credential a new value, e.g. when a token has run out; workflows that name it stay as they are. */
export function ReplaceCredentialDialog({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const client = useTRPCClient();
  const form = useForm({
    schema: NewValue,
    initial: { value: "" },
    submit: async ({ value }) => {
      await client.credentials.replace.mutate({ cred_id: credential.id, value });
      toast.success(`${credential.name} has a new value`);
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={`New value for ${credential.name}`}
      description="Workflows that read it stay as they are. The old value cannot be brought back."
      form={form}
      submitLabel="Replace value"
    >
      <SecretField value={form.values.value} onValueChange={(value) => form.set("value", value)} error={form.errorOf("value")} autoFocus />
    </FormDialog>
  );
}

interface SecretFieldProps {
  value: string;
  onValueChange: (value: string) => void;
  error: string | undefined;
  hint?: ReactNode;
  autoFocus?: boolean;
}

/** A secret of one or many lines: a password field would drop the line breaks of a key file. */
function SecretField({ value, onValueChange, error, hint, autoFocus = false }: SecretFieldProps) {
  const [isShown, setIsShown] = useState(false);
  return (
    <Field
      label="Value"
      hint={hint}
      error={error}
      isRequired
      action={
        <IconButton
          label={isShown ? "Hide value" : "Show value"}
          size="sm"
          icon={isShown ? <EyeOff /> : <Eye />}
          onClick={() => setIsShown(!isShown)}
        />
      }
    >
      <Textarea
        name="value"
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
        rows={3}
        autoFocus={autoFocus}
        autoComplete="off"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        className={cn("break-all font-mono", !isShown && "[-webkit-text-security:disc]")}
      />
    </Field>
  );
}
