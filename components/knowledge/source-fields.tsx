"use client";

import { TRPCClientError } from "@trpc/client";
import { useState } from "react";
import type { z } from "zod";
import { KeyPicker } from "#components/agents/model-choice.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import type { UseFormReturn } from "#components/forms/use-form.ts";
import { errorBodyIn } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Input, Textarea } from "#components/ui/input.tsx";
import { type RagType, ragConfigs } from "#server/features/knowledge/schema.ts";

type AnyForm = UseFormReturn<z.ZodObject>;

const ADVANCED: Partial<Record<RagType, readonly string[]>> = {
  pgvector: ["id_column", "text_column", "embedding_column", "title_column", "uri_column", "distance"],
  qdrant: ["vector_name", "text_field", "title_field", "uri_field"],
  http: ["query_field", "limit_field", "results_path", "text_field", "title_field", "uri_field"],
};

// Where the schema speaks to those who send JSON, or only repeats the label.
const HINTS: Record<string, string | null> = {
  connection_string: "Stored encrypted; ?sslmode=require at its end asks for encryption.",
  api_key: "Stored encrypted; leave it empty for a server without one.",
  collection: null,
  results_path: "Dotted path to the list in the answer; empty when the answer is the list.",
  limit_field: "Name under which the number of results is sent; empty sends none.",
};

/** The schema of the form: a name, and the settings of the kind of source. */
export const sourceSchema = (type: RagType, name: z.ZodType): z.ZodObject => ragConfigs[type].extend({ name });

/** What a new source's form begins with: the defaults of its settings. */
export function defaultSettings(type: RagType): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ragConfigs[type].shape).map(([name, schema]) => {
      const preset = (schema as z.ZodType).safeParse(undefined);
      return [name, preset.success ? preset.data : ""];
    }),
  );
}

/** The fields of a source's settings, drawn from their schema; what seldom needs a change is folded away. */
export function SourceFields({ form, type, isNew }: { form: AnyForm; type: RagType; isNew: boolean }) {
  const advanced = ADVANCED[type] ?? [];
  const names = Object.keys(ragConfigs[type].shape);
  const hasError = advanced.some((name) => form.errorOf(name) !== undefined);
  return (
    <>
      {names
        .filter((name) => !advanced.includes(name))
        .map((name) => (
          <SettingField key={name} form={form} type={type} name={name} isNew={isNew} />
        ))}
      {advanced.length > 0 && (
        <details open={hasError || undefined} className="group rounded-md border px-3 open:pb-3">
          <summary className="flex min-h-9 cursor-pointer items-center font-semibold text-12 text-ink-soft">
            {type === "http" ? "Fields of question and answer" : type === "pgvector" ? "Columns and distance" : "Payload fields"}
          </summary>
          <div className="mt-1 grid gap-4 sm:grid-cols-2">
            {advanced.map((name) => (
              <SettingField key={name} form={form} type={type} name={name} isNew={isNew} />
            ))}
          </div>
        </details>
      )}
    </>
  );
}

function SettingField({ form, type, name, isNew }: { form: AnyForm; type: RagType; name: string; isNew: boolean }) {
  const value: unknown = form.values[name];
  const text = typeof value === "string" ? value : "";
  const set = (next: unknown) => form.set(name, next);
  if (name === "embedding_llm_key_id") {
    const clear = type === "documents" && text !== "" && (
      <Button size="sm" variant="ghost" onClick={() => set(null)}>
        Search by words only
      </Button>
    );
    return (
      <FormField
        form={form}
        name={name}
        isOptional={type === "documents"}
        action={clear}
        {...(type === "documents" && { hint: "Makes vectors, so that what means the same is found too. Without one, words decide." })}
      >
        <KeyPicker value={text} onValueChange={set} />
      </FormField>
    );
  }
  // A model without a key would be refused; it is asked for once there is one.
  if (name === "embedding_model" && type === "documents" && !form.values.embedding_llm_key_id) return null;
  if (name === "headers")
    return (
      <FormField form={form} name={name} isOptional hint="One a line, such as Authorization: Bearer …. Values are stored encrypted.">
        <HeadersField value={value as Record<string, string>} onValueChange={set} />
      </FormField>
    );
  const field = form.describe(name);
  if (field.control === "choice") return <FormField form={form} name={name} />;
  const isSecret = name === "api_key" || name === "connection_string";
  const words = isSecret && !isNew ? "Leave it as it is to keep the stored one." : HINTS[name];
  const hint = words === undefined ? {} : { hint: words };
  return (
    <FormField form={form} name={name} isOptional={field.isNullable && !(name === "embedding_model")} {...hint}>
      <Input
        type={isSecret && isNew ? "password" : "text"}
        value={text}
        autoComplete="off"
        spellCheck={false}
        className={name === "embedding_model" || isSecret || name === "url" ? "font-mono" : ""}
        {...(name === "url" && { inputMode: "url" as const })}
        placeholder={
          name === "embedding_model"
            ? "text-embedding-3-small"
            : name === "connection_string"
              ? "postgresql://user:password@host:5432/database"
              : ""
        }
        onChange={(event) => set(event.target.value === "" && field.isNullable ? null : event.target.value)}
      />
    </FormField>
  );
}

const linesOf = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** Reads `Name: value` lines; a line without a colon is a name without a value. */
function headersOf(lines: string): Record<string, string> {
  return Object.fromEntries(
    lines.split("\n").flatMap((line) => {
      const at = line.indexOf(":");
      const name = (at < 0 ? line : line.slice(0, at)).trim();
      return name ? [[name, at < 0 ? "" : line.slice(at + 1).trim()]] : [];
    }),
  );
}

/** HTTP headers, one a line. What is typed stays as it is while it is being typed. */
export function HeadersField({
  value,
  onValueChange,
}: {
  value: Record<string, string>;
  onValueChange: (value: Record<string, string>) => void;
}) {
  const [text, setText] = useState(() => linesOf(value));
  return (
    <Textarea
      rows={3}
      value={text}
      spellCheck={false}
      placeholder="Authorization: Bearer …"
      className="font-mono"
      onChange={(event) => {
        setText(event.target.value);
        onValueChange(headersOf(event.target.value));
      }}
    />
  );
}

/** Makes the server's `config.url` the form's `url`, so that what it says stands at the field. */
export async function withoutConfigPrefix<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    const body = error instanceof TRPCClientError ? errorBodyIn(error.data) : undefined;
    if (!body?.errors) throw error;
    const errors = body.errors.map(({ path, message }) => ({ path: path.replace(/^config\./, ""), message }));
    (error as { data: unknown }).data = { ...body, errors };
    throw error;
  }
}
