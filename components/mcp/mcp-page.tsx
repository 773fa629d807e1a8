"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { PagedTable, TableCell, TableHeader, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";
import type { McpServer } from "#server/features/mcp/schema.ts";

const ConnectDialog = loadedOnUse(() => import("#components/mcp/server-dialogs.tsx").then((module) => module.ConnectDialog));

function toolCount({ tool_count, disabled_tools }: McpServer): string {
  return disabled_tools.length ? `${tool_count - disabled_tools.length} of ${tool_count}` : `${tool_count}`;
}

export function McpPage() {
  const trpc = useTRPC();
  const router = useRouter();
  const { canEdit, project } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const [isConnecting, setIsConnecting] = useState(false);
  const servers = useQuery(trpc.mcp.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const connect = canEdit && (
    <Button variant="primary" icon={<Plus />} onClick={() => setIsConnecting(true)}>
      Connect server
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="MCP servers"
        description="Tools of other services that agents can call."
        actions={servers.data && (servers.data.total > 0 || search.q) ? connect : undefined}
      />
      <PagedTable
        label="MCP servers"
        className="md:min-w-150"
        loadingLabel="Loading MCP servers"
        query={servers}
        search={search}
        page={page}
        onPageChange={setPage}
        head={
          <>
            <TableHeader>Name</TableHeader>
            <TableHeader className="max-md:hidden">Address</TableHeader>
            <TableHeader>Tools</TableHeader>
            <TableHeader>Listed</TableHeader>
          </>
        }
        empty={
          <EmptyState title="Connect an MCP server" actions={connect}>
            The Model Context Protocol is how services offer tools to models: issue trackers, databases, calendars, your own programs. Give
            the address of a server, look at its tools, and switch off those that agents should not get.
            {!canEdit && <span className="mt-2 block">Editors and admins of {project.name} can connect one.</span>}
          </EmptyState>
        }
      >
        {(server) => (
          <TableRow key={server.id}>
            <TableCell className="font-medium">
              <Link href={`/mcp/${server.id}`} className="hover:underline">
                {server.name}
              </Link>
            </TableCell>
            <TableCell className="max-w-80 truncate font-mono text-12 text-ink-soft max-md:hidden">{server.url}</TableCell>
            <TableCell className="whitespace-nowrap tabular text-ink-soft">{toolCount(server)}</TableCell>
            <TableCell className="whitespace-nowrap text-ink-soft">
              {server.last_error ? <Badge tone="failed">Failed</Badge> : server.last_seen_at && <Time value={server.last_seen_at} />}
            </TableCell>
          </TableRow>
        )}
      </PagedTable>
      {isConnecting && <ConnectDialog onConnected={({ id }) => router.push(`/mcp/${id}`)} onClose={() => setIsConnecting(false)} />}
    </Page>
  );
}
