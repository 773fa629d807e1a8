"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePathname, useRouter, useSearchParams } from "next/navigation";
import { RunRow } from "#components/runs/run-row.tsx";
import { Page } from "#components/shell/page.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Select } from "#components/ui/select.tsx";
import { statusLooks } from "#components/ui/status.tsx";
import { Table, TableBody, TableHead, TableHeader } from "#components/ui/table.tsx";
import { TableSkeleton } from "#components/ui/table-skeleton.tsx";
import { ExecutionStatus, isFinal } from "#server/schemas/execution.ts";

const PER_PAGE = 50;
/** How often the list looks again, in milliseconds: while something runs, and otherwise. */
const LIVE_MS = 2000;
const QUIET_MS = 10_000;
const ALL = "all";

const statusOptions = [
  { value: ALL, label: "Any status" },
  ...ExecutionStatus.options.map((value) => ({ value, label: statusLooks[value].label })),
];

/** The filters live in the address, so that a filtered list can be shared and survives a reload. */
function useFilters() {
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams();
  const status = ExecutionStatus.safeParse(query.get("status")).data;
  const workflow_id = query.get("workflow") ?? undefined;
  const page = Math.max(1, Number(query.get("page")) || 1);
  const set = (changes: Record<string, string | undefined>) => {
    const next = new URLSearchParams(query);
    if (!("page" in changes)) next.delete("page");
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === ALL) next.delete(name);
      else next.set(name, value);
    }
    router.replace(next.size ? `${path}?${next}` : path, { scroll: false });
  };
  return { status, workflow_id, page, set };
}

/** Every execution of the project, newest first, kept fresh by itself. */
export function RunsPage() {
  const trpc = useTRPC();
  const { status, workflow_id, page, set } = useFilters();
  const filter = { page, per_page: PER_PAGE, ...(status && { status }), ...(workflow_id && { workflow_id }) };
  const runs = useQuery(
    trpc.executions.list.queryOptions(filter, {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) => (state.data?.items.some((run) => !isFinal(run.status)) ? LIVE_MS : QUIET_MS),
    }),
  );
  const workflows = useQuery(trpc.workflows.list.queryOptions({ per_page: 200 }));
  const workflowOptions = [
    { value: ALL, label: "Any workflow" },
    ...(workflows.data?.items.map(({ id, name }) => ({ value: id, label: name })) ?? []),
  ];
  const isFiltered = status !== undefined || workflow_id !== undefined;
  const isEmpty = runs.data?.total === 0;

  return (
    <Page>
      <PageHeader title="Runs" />
      {(isFiltered || (runs.data && !isEmpty)) && (
        <div className="-mb-2 flex flex-wrap gap-2">
          <Select
            aria-label="Status"
            className="w-40"
            value={status ?? ALL}
            options={statusOptions}
            onValueChange={(value) => set({ status: value })}
          />
          <Select
            aria-label="Workflow"
            className="w-56"
            value={workflow_id ?? ALL}
            options={workflowOptions}
            onValueChange={(value) => set({ workflow: value })}
          />
        </div>
      )}
      {runs.isError && <LoadFailure error={runs.error} onRetry={() => void runs.refetch()} />}
      {runs.isPending && <TableSkeleton label="Loading runs" />}
      {isEmpty && !isFiltered && (
        <EmptyState title="Nothing has run yet">
          Open a workflow and press Run, or start one over REST. Each run is kept here with the input, output, duration and tokens of every
          node.
        </EmptyState>
      )}
      {isEmpty && isFiltered && (
        <p className="flex items-center gap-3 py-6 text-13 text-ink-soft">
          No run matches this filter.
          <Button size="sm" onClick={() => set({ status: undefined, workflow: undefined })}>
            Show all
          </Button>
        </p>
      )}
      {runs.data && !isEmpty && (
        <>
          <Table label="Runs" className="md:min-w-190">
            <TableHead>
              <tr>
                <TableHeader className="w-full">Workflow</TableHeader>
                <TableHeader>Status</TableHeader>
                <TableHeader className="max-md:hidden">Trigger</TableHeader>
                <TableHeader className="max-md:hidden">Version</TableHeader>
                <TableHeader className="max-md:hidden">Started by</TableHeader>
                <TableHeader className="text-right max-md:hidden">Tokens</TableHeader>
                <TableHeader className="text-right">Duration</TableHeader>
                <TableHeader className="max-md:hidden">Date</TableHeader>
              </tr>
            </TableHead>
            <TableBody>
              {runs.data.items.map((run) => (
                <RunRow key={run.id} run={run} />
              ))}
            </TableBody>
          </Table>
          <Pager page={page} perPage={PER_PAGE} total={runs.data.total} onPageChange={(next) => set({ page: String(next) })} />
        </>
      )}
    </Page>
  );
}
