"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormFooter } from "#components/forms/form-footer.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { ServerFields, ServerFormInput } from "#components/mcp/server-fields.tsx";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import type { McpServerDetail } from "#server/features/mcp/schema.ts";

interface EditServerDialogProps {
  server: McpServerDetail;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

/** Changes name, address, transport and headers; the server is connected anew before anything is saved. */
export function EditServerDialog({ server, open, onOpenChange }: EditServerDialogProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} size="lg" title="Settings of the server">
      <EditForm server={server} onSaved={() => onOpenChange(false)} />
    </Dialog>
  );
}

function EditForm({ server, onSaved }: { server: McpServerDetail; onSaved: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
  const kept = Object.fromEntries(server.header_names.map((name) => [name, null]));
  const form = useForm({
    schema: ServerFormInput,
    initial: { name: server.name, url: server.url, transport: server.transport, headers: kept },
    submit: async ({ headers, ...value }) => {
      const isSame = JSON.stringify(headers) === JSON.stringify(kept);
      const saved = await client.mcp.update.mutate({ mcp_id: server.id, ...value, ...(!isSame && { headers }) });
      cache.setQueryData(trpc.mcp.get.queryKey({ mcp_id: server.id }), saved);
      toast.success("Server saved");
      onSaved();
      await cache.invalidateQueries(trpc.mcp.list.pathFilter());
    },
  });
  return (
    <form onSubmit={form.onSubmit} noValidate className="flex min-w-0 flex-col gap-4">
      <ServerFields form={form} stored={server.header_names} />
      <FormFooter form={form}>Save</FormFooter>
    </form>
  );
}
