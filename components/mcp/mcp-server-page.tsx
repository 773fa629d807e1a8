"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { RotateCw, Settings2, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { ToolList } from "#components/mcp/tool-list.tsx";
import { BackLink } from "#components/shell/back-link.tsx";
import { NotFound } from "#components/shell/not-found.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, isMissing, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { MoreMenu } from "#components/ui/more-menu.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { McpServerDetail } from "#server/features/mcp/schema.ts";

const EditServerDialog = loadedOnUse(() => import("#components/mcp/server-dialogs.tsx").then((module) => module.EditServerDialog));

export function McpServerPage({ mcpId }: { mcpId: string }) {
  const { trpc, cache } = useApi();
  const router = useRouter();
  const { canEdit } = useStudio();
  const [isEditing, setIsEditing] = useState(false);
  const [isDeleting, setIsDeleting] = useState(false);
  const server = useQuery(trpc.mcp.get.queryOptions({ mcp_id: mcpId }));
  useTitle(server.data?.name);
  const refresh = useMutation(trpc.mcp.refresh.mutationOptions());
  const remove = useMutation(trpc.mcp.delete.mutationOptions());
  const listAgain = async () => {
    try {
      const now = await refresh.mutateAsync({ mcp_id: mcpId });
      toast.success(`${now.tool_count} tools listed`);
    } catch (error) {
      toast.error(errorBodyOf(error).detail);
    }
    await cache.invalidateQueries(trpc.mcp.pathFilter());
  };
  if (server.isError && isMissing(server.error)) return <NotFound what="MCP server" href="/mcp" />;
  return (
    <Page>
      <PageHeader
        title={server.data?.name ?? <Skeleton className="my-1.5 h-4 w-40" />}
        back={<BackLink href="/mcp">MCP servers</BackLink>}
        description={server.data && <span className="break-all font-mono text-12">{server.data.url}</span>}
        actions={
          canEdit &&
          server.data && (
            <>
              <Button icon={<RotateCw />} isPending={refresh.isPending} onClick={() => void listAgain()}>
                Refresh tools
              </Button>
              <Button icon={<Settings2 />} onClick={() => setIsEditing(true)}>
                Settings
              </Button>
              <MoreMenu>
                <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => setIsDeleting(true)}>
                  Delete server
                </MenuItem>
              </MoreMenu>
            </>
          )
        }
      />
      <LoadFailure query={server} />
      {server.isPending && <Skeleton className="h-96 w-full" />}
      {server.data && <ServerBody server={server.data} />}
      {server.data && isEditing && <EditServerDialog server={server.data} onClose={() => setIsEditing(false)} />}
      {isDeleting && (
        <ConfirmDialog
          onClose={() => setIsDeleting(false)}
          title={`Delete server “${server.data?.name}”?`}
          confirmLabel="Delete server"
          onConfirm={async () => {
            await remove.mutateAsync({ mcp_id: mcpId });
            toast.success("Server deleted");
            router.replace("/mcp");
            await cache.invalidateQueries(trpc.mcp.list.pathFilter());
          }}
        >
          Its address and headers are forgotten here. A server that an agent uses cannot be deleted.
        </ConfirmDialog>
      )}
    </Page>
  );
}

function ServerBody({ server }: { server: McpServerDetail }) {
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const key = trpc.mcp.get.queryKey({ mcp_id: server.id });
  // Shown at once, and taken back when the server did not take it.
  const update = useMutation(
    trpc.mcp.update.mutationOptions({
      onMutate: ({ disabled_tools = [] }) => cache.setQueryData(key, (old) => old && { ...old, disabled_tools }),
      onSuccess: (saved) => cache.setQueryData(key, saved),
      onError: (error) => {
        toast.error(errorBodyOf(error).detail);
        void cache.invalidateQueries({ queryKey: key });
      },
    }),
  );
  const facts = [
    server.transport === "sse" ? "Server-sent events" : "Streamable HTTP",
    server.header_names.length ? `Headers: ${server.header_names.join(", ")}` : "No headers",
  ];
  return (
    <>
      {server.last_error && (
        <Notice tone="failed" title="The last try did not bring all of its tools">
          {server.last_error}
        </Notice>
      )}
      <p className="text-14 text-ink-soft">
        {facts.join(" · ")}
        {server.last_seen_at && (
          <>
            {" · Tools listed "}
            <Time value={server.last_seen_at} />
          </>
        )}
      </p>
      <section aria-label="Tools" className="flex flex-col gap-2">
        <h2 className="font-semibold text-16">Tools</h2>
        {server.tools.length === 0 ? (
          <p className="text-14 text-ink-soft">This server offers no tools.</p>
        ) : (
          <ToolList
            tools={server.tools}
            disabled={server.disabled_tools}
            onDisabledChange={canEdit ? (disabled_tools) => update.mutate({ mcp_id: server.id, disabled_tools }) : undefined}
          />
        )}
      </section>
    </>
  );
}
