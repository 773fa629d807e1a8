"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { newHeaders, ServerFields, ServerFormInput } from "#components/mcp/server-fields.tsx";
import { ToolList } from "#components/mcp/tool-list.tsx";
import { errorBodyOf, useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import type { McpServerDetail } from "#server/features/mcp/schema.ts";

interface ConnectDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onConnected: (server: McpServerDetail) => void;
}

/** Connects a server; its tools can be looked at, and switched off, before anything is saved. */
export function ConnectDialog({ open, onOpenChange, onConnected }: ConnectDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} size="lg" title="Connect MCP server">
      <ConnectForm onConnected={onConnected} />
    </Dialog>
  );
}

function ConnectForm({ onConnected }: Pick<ConnectDialogProps, "onConnected">) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
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
    <form onSubmit={form.onSubmit} noValidate className="flex min-w-0 flex-col gap-4">
      <ServerFields form={form} />
      {discover.isError && <FormFailure failure={errorBodyOf(discover.error)} />}
      {discover.data && !discover.isPending && (
        <section aria-label="Tools of the server" className="flex flex-col gap-2">
          <h3 className="font-medium text-13">{discover.data.tools.length === 1 ? "1 tool" : `${discover.data.tools.length} tools`}</h3>
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
    </form>
  );
}
