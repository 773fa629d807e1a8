"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { RunsTable } from "#components/runs/runs-table.tsx";
import { Page } from "#components/shell/page.tsx";
import { useSeenFailures } from "#components/shell/use-notifications.ts";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Select } from "#components/ui/select.tsx";
import { statusLooks } from "#components/ui/status.tsx";
import { Pager, PER_PAGE, TableLoading } from "#components/ui/table.tsx";
import { executionStatuses } from "#server/shared/execution-status.ts";

/** How often a list of runs is read again while it is looked at. */
export const LIVE_MS = 3000;
const ALL = "all";

/** The project's executions; filters and page stand in the address. */
export function RunsPage() {
  const trpc = useTRPC();
  const { query, setQuery, page, setPage } = useUrlQuery();
  const status = executionStatuses.find((one) => one === query.get("status"));
  const workflow = query.get("workflow") ?? undefined;
  const workflows = useQuery(trpc.workflows.list.queryOptions({ per_page: 200 }));
  const runs = useQuery(
    trpc.executions.list.queryOptions(
      { page, per_page: PER_PAGE, ...(status && { status }), ...(workflow && { workflow_id: workflow }) },
      { placeholderData: keepPreviousData, refetchInterval: LIVE_MS },
    ),
  );
  useSeenFailures(runs.isSuccess);
  const chosen = (value: string) => (value === ALL ? undefined : value);
  const isFiltered = status !== undefined || workflow !== undefined;
  return (
    <Page>
      <PageHeader title="Runs" />
      {(isFiltered || (runs.data?.total ?? 0) > 0) && (
        <div className="-mb-2 flex flex-wrap items-center gap-2">
          <div className="w-40 max-sm:w-auto max-sm:min-w-0 max-sm:flex-1">
            <Select
              aria-label="Status"
              value={status ?? ALL}
              options={[
                { value: ALL, label: "Any status" },
                ...executionStatuses.map((value) => ({ value, label: statusLooks[value].label })),
              ]}
              onValueChange={(value) => setQuery({ status: chosen(value), page: undefined })}
            />
          </div>
          <div className="w-56 max-sm:w-auto max-sm:min-w-0 max-sm:flex-1">
            <Select
              aria-label="Workflow"
              value={workflow ?? ALL}
              options={[
                { value: ALL, label: "Any workflow" },
                ...(workflows.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onValueChange={(value) => setQuery({ workflow: chosen(value), page: undefined })}
            />
          </div>
          {isFiltered && (
            <Button variant="ghost" onClick={() => setQuery({ status: undefined, workflow: undefined, page: undefined })}>
              Clear filters
            </Button>
          )}
        </div>
      )}
      <TableLoading query={runs} label="Loading runs" />
      {runs.data?.total === 0 &&
        (isFiltered ? (
          <p className="py-6 text-13 text-ink-soft">No run matches these filters.</p>
        ) : (
          <EmptyState
            title="Nothing has run yet"
            actions={
              <Button asChild variant="primary">
                <Link href="/workflows">Open workflows</Link>
              </Button>
            }
          >
            Every run of a workflow is kept here: when it started, what started it, what each node was given and what it answered.
          </EmptyState>
        ))}
      {runs.data && runs.data.total > 0 && (
        <>
          <RunsTable runs={runs.data.items} hasWorkflow />
          <Pager page={page} total={runs.data.total} onPageChange={setPage} />
        </>
      )}
    </Page>
  );
}
