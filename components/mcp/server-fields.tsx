"use client";

import { FormField } from "#components/forms/form-field.tsx";
import type { Form } from "#components/forms/use-form.ts";
import { HeaderRows, type HeaderValues } from "#components/mcp/header-rows.tsx";
import { Select } from "#components/ui/select.tsx";
import { CreateMcpServerInput, UpdateMcpServerInput } from "#server/features/mcp/schema.ts";

const { name, url, transport } = CreateMcpServerInput.shape;

/** What people fill in of a server; headers as at a change, where null keeps what is stored. */
export const ServerFormInput = CreateMcpServerInput.pick({}).extend({
  name,
  url,
  transport: transport.unwrap(),
  headers: UpdateMcpServerInput.shape.headers.unwrap(),
});

/** The headers of a server that is new: there is nothing stored that null could keep. */
export const newHeaders = (headers: HeaderValues): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, value ?? ""]));

/** Name, address, transport and headers of a server. */
export function ServerFields({ form, stored = [] }: { form: Form<typeof ServerFormInput>; stored?: readonly string[] }) {
  return (
    <>
      <FormField form={form} name="name" hint="Models see it before the name of each tool" autoComplete="off" autoFocus />
      <FormField form={form} name="url" type="url" placeholder="https://mcp.example.com/mcp" autoComplete="off" isCode />
      <FormField form={form} name="transport" hint={null}>
        <Select
          value={form.values.transport}
          onValueChange={(value) => form.set("transport", value)}
          options={[
            { value: "streamable_http", label: "Streamable HTTP", description: "What current servers speak" },
            { value: "sse", label: "Server-sent events", description: "The older transport; the address often ends in /sse" },
          ]}
        />
      </FormField>
      <fieldset className="flex min-w-0 flex-col gap-1.5">
        <legend className="mb-1.5 font-medium text-12 text-ink">Headers</legend>
        <HeaderRows stored={stored} onChange={(headers) => form.set("headers", headers)} />
        <p className="text-12 text-ink-faint">Sent with every request. Values are stored encrypted and never shown again.</p>
        {form.errorOf("headers") && (
          <p role="alert" className="text-12 text-failed">
            {form.errorOf("headers")}
          </p>
        )}
      </fieldset>
    </>
  );
}
