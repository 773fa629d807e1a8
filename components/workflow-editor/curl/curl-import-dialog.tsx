"use client";

import { type FormEvent, useMemo, useState } from "react";
import { FormDialog } from "#components/forms/form.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type CurlCall, readCurl } from "#components/workflow-editor/curl/curl-command.ts";
import type { CurlSecret } from "#components/workflow-editor/curl/curl-secrets.ts";
import { useCredentialNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { CreateCredentialInput } from "#server/features/credentials/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

export interface CurlImportDialogProps {
  nodeId: string;
  /** A command that is there already. */
  initial: string;
  onClose: () => void;
}

/** Shows what a command of curl becomes, keeps its secrets as credentials, and sets the node's fields as one step of undo. */
export function CurlImportDialog({ nodeId, initial, onClose }: CurlImportDialogProps) {
  const editor = useEditorStore();
  const { trpc, client, cache } = useApi();
  const { canAdminister } = useStudio();
  const known = useCredentialNames();
  const [text, setText] = useState(initial);
  const [names, setNames] = useState<readonly (string | undefined)[]>([]);
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const [isPending, setIsPending] = useState(false);
  const read = useMemo(() => (text.trim() === "" ? null : readCurl(text, names)), [text, names]);
  const call = read && "config" in read ? read : null;
  const wrong = call?.secrets.some(({ name }) => !CreateCredentialInput.shape.name.safeParse(name).success) ?? false;

  const submit = async ({ config, secrets }: CurlCall) => {
    setIsPending(true);
    setFailure(null);
    try {
      for (const { name, value } of secrets)
        if (value !== null && canAdminister && !known?.includes(name)) await client.credentials.create.mutate({ name, value });
      const { nodes, edges, data, apply } = editor.getState();
      apply(
        "import a curl command",
        { nodes, edges, data: { ...data, [nodeId]: { ...data[nodeId], ...config } } },
        { say: "curl imported" },
      );
      onClose();
    } catch (error) {
      setFailure(errorBodyOf(error));
      setIsPending(false);
    } finally {
      void cache.invalidateQueries(trpc.credentials.list.pathFilter());
    }
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // What is submitted in a dialog is not meant for a form around its place.
    event.stopPropagation();
    if (call && !wrong && !isPending) void submit(call);
  };
  return (
    <FormDialog
      onClose={onClose}
      size="lg"
      title="Import curl"
      description="Method, address, query, headers, authentication and body of the node become what the command says."
      form={{ failure, isPending, onSubmit }}
      submitLabel="Import"
      disabled={!call || wrong}
    >
      <Field label="Command" error={read && "fault" in read ? read.fault : undefined}>
        <Textarea
          rows={6}
          value={text}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="curl https://api.example.com/items -H 'Accept: application/json'"
          className="break-all font-mono text-12"
          onChange={(event) => {
            setText(event.target.value);
            setNames([]);
          }}
        />
      </Field>
      {call && (
        <p className="break-all text-14" aria-live="polite">
          <span className="font-semibold">{call.config.method}</span> {call.config.url}
          <span className="block text-12 text-ink-soft">{contentsOf(call)}</span>
        </p>
      )}
      {call?.secrets.map((secret, index) => (
        <SecretName
          // biome-ignore lint/suspicious/noArrayIndexKey: a secret is known by its place in the command
          key={index}
          secret={secret}
          isKnown={known?.includes(secret.name) ?? false}
          canStore={canAdminister}
          onChange={(name) => setNames(call.secrets.map((_, at) => (at === index ? name : names[at])))}
        />
      ))}
      {call && call.notes.length > 0 && (
        <Notice tone="waiting">
          {call.notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Notice>
      )}
    </FormDialog>
  );
}

/** What is set besides method and address, in words. */
function contentsOf({ config: { query, headers, auth, body_type } }: CurlCall): string {
  const rows = (name: string, count: number) => (count > 0 ? `${name}: ${count}` : "");
  const parts = [rows("Query", query.length), rows("Headers", headers.length), auth.kind !== "none" && `Authentication: ${auth.kind}`];
  return [...parts, body_type !== "none" && `Body: ${body_type}`].filter(Boolean).join(" · ");
}

interface SecretNameProps {
  secret: CurlSecret;
  /** The project has a credential of this name. */
  isKnown: boolean;
  canStore: boolean;
  onChange: (name: string) => void;
}

/** Under which name something secret is kept. */
function SecretName({ secret: { name, value, what }, isKnown, canStore, onChange }: SecretNameProps) {
  const checked = CreateCredentialInput.shape.name.safeParse(name);
  const hint = isKnown
    ? "The project has this credential. Its value is used, not what the command says."
    : value === null
      ? "The command has no value for it. Add the credential, or choose another, before the node runs."
      : canStore
        ? "Stored encrypted for the project. The workflow has only this name."
        : "Only an admin can add credentials: ask one to add this, since its value is not kept.";
  return (
    <Field label={`${what} becomes the credential`} hint={hint} error={checked.error?.issues[0]?.message}>
      <Input value={name} spellCheck={false} autoComplete="off" className="font-mono" onChange={(event) => onChange(event.target.value)} />
    </Field>
  );
}
