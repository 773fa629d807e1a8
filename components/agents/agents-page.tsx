"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Bot, Plus } from "lucide-react";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { NothingMatches, Table, TableBody, TableCell, TableHead, TableHeader, TableLoading, TableRow } from "#components/ui/table.tsx";
import { Time } from "#components/ui/time.tsx";

export function AgentsPage() {
  const trpc = useTRPC();
  const { canEdit } = useStudio();
  const { input, page, setPage, search } = useListSearch();
  const agents = useQuery(trpc.agents.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 200 }));
  const keyNames = new Map(keys.data?.items.map(({ id, name }) => [id, name]));
  const shown = agents.data?.items ?? [];
  const isFirst = agents.data?.total === 0 && search.q === "";

  const create = canEdit && (
    <Button asChild variant="primary" icon={<Plus />}>
      <Link href="/agents/new">New agent</Link>
    </Button>
  );
  return (
    <Page>
      <PageHeader title="Agents" actions={agents.data && !isFirst && create} />
      <TableLoading query={agents} label="Loading agents" />
      {isFirst && (
        <EmptyState title="An agent is a model with a job" actions={create}>
          Pick a model, tell it in a system prompt what it does and how it answers, and try it here. Workflows then call it by its name, and
          read its answer as <code className="font-mono text-12">{"{{name.output}}"}</code>.
        </EmptyState>
      )}
      {agents.data && !isFirst && (
        <>
          <SearchField label="Search agents" value={search.text} onValueChange={search.setText} className="-mb-2 sm:max-w-72" />
          {shown.length === 0 ? (
            <NothingMatches q={search.q} />
          ) : (
            <Table label="Agents" className="md:min-w-150">
              <TableHead>
                <TableHeader>Name</TableHeader>
                <TableHeader>Model</TableHeader>
                <TableHeader className="max-md:hidden">LLM key</TableHeader>
                <TableHeader className="max-md:hidden">Updated</TableHeader>
              </TableHead>
              <TableBody>
                {shown.map((agent) => (
                  <TableRow key={agent.id} className="relative">
                    <TableCell className="w-3/5 max-w-0">
                      <span className="flex items-center gap-2.5">
                        <span aria-hidden className="grid size-6 shrink-0 place-items-center rounded-md bg-role-agent text-paper">
                          <Bot className="size-3.5" />
                        </span>
                        <span className="min-w-0">
                          <Link href={`/agents/${agent.id}`} className="font-semibold after:absolute after:inset-0">
                            {agent.name}
                          </Link>
                          {agent.description && <span className="block truncate text-12 text-ink-faint">{agent.description}</span>}
                        </span>
                      </span>
                    </TableCell>
                    <TableCell className="font-mono text-12">{agent.model}</TableCell>
                    <TableCell className="text-ink-soft max-md:hidden">{keyNames.get(agent.llm_key_id) ?? ""}</TableCell>
                    <TableCell className="whitespace-nowrap text-ink-soft max-md:hidden">
                      <Time value={agent.updated_at} />
                    </TableCell>
                  </TableRow>
                ))}
              </TableBody>
            </Table>
          )}
          <Pager page={page} total={agents.data.total} onPageChange={setPage} />
        </>
      )}
    </Page>
  );
}
