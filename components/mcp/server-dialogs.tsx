"use client";

import { useMutation } from "@tanstack/react-query";
import { Plus, Search, Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { Form, FormDialog, FormFailure } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { type UseFormReturn, useForm } from "#components/forms/use-form.ts";
import { ToolList } from "#components/mcp/tool-list.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { FieldError } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Input } from "#components/ui/input.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateMcpServerInput, type McpServerDetail, UpdateMcpServerInput } from "#server/features/mcp/schema.ts";

interface ConnectDialogProps {
  onClose: () => void;
  onConnected: (server: McpServerDetail) => void;
}

/** Connects a server; its tools can be looked at, and switched off, before anything is saved. */
export function ConnectDialog({ onClose, onConnected }: ConnectDialogProps) {
  const { trpc, client, cache } = useApi();
  const [disabled, setDisabled] = useState<string[]>([]);
  const discover = useMutation(trpc.mcp.discover.mutationOptions());
  const form = useForm({
    schema: ServerFormInput,
    initial: { name: "", url: "", transport: "streamable_http", headers: {} },
    submit: async ({ headers, ...value }) => {
      const server = await client.mcp.create.mutate({ ...value, headers: newHeaders(headers), disabled_tools: disabled });
      await cache.invalidateQueries(trpc.mcp.list.pathFilter());
      toast.success(`“${server.name}” connected with ${server.tool_count} tools`);
      onConnected(server);
    },
  });
  const { url, transport, headers } = form.values;
  const look = () => {
    setDisabled([]);
    discover.mutate({ url, transport, headers: newHeaders(headers) });
  };
  return (
    <Dialog onClose={onClose} size="lg" title="Connect MCP server">
      <Form form={form}>
        <ServerFields form={form} />
        {discover.isError && <FormFailure failure={errorBodyOf(discover.error)} />}
        {discover.data && !discover.isPending && (
          <section aria-label="Tools of the server" className="flex flex-col gap-2">
            <h3 className="font-semibold text-14">{discover.data.tools.length === 1 ? "1 tool" : `${discover.data.tools.length} tools`}</h3>
            {discover.data.missing && (
              <Notice tone="waiting" title="Some tools are missing">
                {discover.data.missing}
              </Notice>
            )}
            <div className="max-h-80 overflow-y-auto">
              <ToolList tools={discover.data.tools} disabled={disabled} onDisabledChange={setDisabled} />
            </div>
          </section>
        )}
        <FormFailure failure={form.failure} />
        <DialogFooter>
          <Button icon={<Search />} isPending={discover.isPending} disabled={url.trim() === ""} onClick={look}>
            Discover tools
          </Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            Connect
          </Button>
        </DialogFooter>
      </Form>
    </Dialog>
  );
}

/** Changes name, address, transport and headers; the server is connected anew before anything is saved. */
export function EditServerDialog({ server, onClose }: { server: McpServerDetail; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const kept = Object.fromEntries(server.header_names.map((name) => [name, null]));
  const form = useForm({
    schema: ServerFormInput,
    initial: { name: server.name, url: server.url, transport: server.transport, headers: kept },
    submit: async ({ headers, ...value }) => {
      const isSame = JSON.stringify(headers) === JSON.stringify(kept);
      const saved = await client.mcp.update.mutate({ mcp_id: server.id, ...value, ...(!isSame && { headers }) });
      cache.setQueryData(trpc.mcp.get.queryKey({ mcp_id: server.id }), saved);
      toast.success("Server saved");
      onClose();
      await cache.invalidateQueries(trpc.mcp.list.pathFilter());
    },
  });
  return (
    <FormDialog onClose={onClose} size="lg" title="Settings of the server" form={form} submitLabel="Save">
      <ServerFields form={form} stored={server.header_names} />
    </FormDialog>
  );
}

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
export function ServerFields({ form, stored = [] }: { form: UseFormReturn<typeof ServerFormInput>; stored?: readonly string[] }) {
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
        <legend className="mb-1.5 font-semibold text-12 text-ink">Headers</legend>
        <HeaderRows stored={stored} onChange={(headers) => form.set("headers", headers)} />
        <p className="text-12 text-ink-faint">Sent with every request. Values are stored encrypted and never shown again.</p>
        <FieldError>{form.errorOf("headers")}</FieldError>
      </fieldset>
    </>
  );
}

interface Row {
  id: number;
  name: string;
  value: string;
  /** A value is stored under this name; it stays when none is typed. */
  isStored: boolean;
}

/** Headers as the API takes them; null keeps the value that is stored. */
export type HeaderValues = Record<string, string | null>;

const valuesOf = (rows: readonly Row[]): HeaderValues =>
  Object.fromEntries(
    rows.flatMap(({ name, value, isStored }) => (name.trim() ? [[name.trim(), isStored && value === "" ? null : value.trim()]] : [])),
  );

/** Names and secret values of headers, a row each. */
export function HeaderRows({ stored = [], onChange }: { stored?: readonly string[]; onChange: (headers: HeaderValues) => void }) {
  const [rows, setRows] = useState<Row[]>(() => stored.map((name, id) => ({ id, name, value: "", isStored: true })));
  const nextId = useRef(stored.length);
  const change = (next: Row[]) => {
    setRows(next);
    onChange(valuesOf(next));
  };
  const edit = (id: number, part: Partial<Row>) => change(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const add = () => {
    nextId.current += 1;
    setRows([...rows, { id: nextId.current, name: rows.length === 0 ? "Authorization" : "", value: "", isStored: false }]);
  };
  return (
    <div className="flex flex-col gap-2">
      {rows.map(({ id, name, value, isStored }, index) => (
        <div key={id} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto] items-center gap-2">
          <Input
            aria-label={`Name of header ${index + 1}`}
            value={name}
            placeholder="Authorization"
            readOnly={isStored}
            spellCheck={false}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => edit(id, { name: event.target.value })}
          />
          <Input
            aria-label={`Value of header ${name || index + 1}`}
            type="password"
            value={value}
            placeholder={isStored ? "Stored; type to replace it" : "Bearer …"}
            autoComplete="off"
            className="font-mono"
            onChange={(event) => edit(id, { value: event.target.value })}
          />
          <IconButton
            label={`Remove header ${name || index + 1}`}
            icon={<Trash2 />}
            onClick={() => change(rows.filter((row) => row.id !== id))}
          />
        </div>
      ))}
      <Button size="sm" variant="ghost" icon={<Plus />} onClick={add} className="w-fit">
        Add header
      </Button>
    </div>
  );
}
