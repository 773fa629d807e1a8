"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { formatCount, formatDateTime } from "#components/format.ts";
import { BulkBar, BulkProgress } from "#components/runs/list/bulk-bar.tsx";
import { finderOf } from "#components/runs/list/excerpt.ts";
import { apiFilterOf, filterOf, isFiltered, queryOf, type RunFilter } from "#components/runs/list/filter.ts";
import { RunFilters } from "#components/runs/list/run-filters.tsx";
import { RunsTable } from "#components/runs/runs-table.tsx";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useSeenFailures } from "#components/shell/use-notifications.ts";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager, PER_PAGE } from "#components/ui/pager.tsx";
import { TableLoading } from "#components/ui/table.tsx";

/** How often a list of runs is read again while it is looked at. */
export const LIVE_MS = 3000;
const MINUTE_MS = 60_000;

/** Now, as of the last minute. */
function useMinute(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The project's runs; filters and page stand in the address. */
export function RunsPage() {
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const { query, setQuery, page, setPage } = useUrlQuery();
  const now = useMinute();
  const address = query.toString();
  const filter = useMemo(() => filterOf(new URLSearchParams(address)), [address]);
  const asked = apiFilterOf(filter, now);
  const runs = useQuery(
    trpc.executions.list.queryOptions(
      { page, per_page: PER_PAGE, ...asked },
      { placeholderData: keepPreviousData, refetchInterval: LIVE_MS },
    ),
  );
  useSeenFailures(runs.isSuccess);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isAll, setIsAll] = useState(false);
  const [bulkId, setBulkId] = useState<string | null>(null);
  const clear = useCallback(() => {
    setChosen(new Set());
    setIsAll(false);
  }, []);
  const onDone = useCallback(() => void cache.invalidateQueries(trpc.executions.pathFilter()), [cache, trpc]);
  const onChange = (changes: Partial<RunFilter>) => {
    clear();
    setQuery({ ...queryOf(changes), page: undefined });
  };
  const hasFilter = isFiltered(filter);
  const { total = 0, total_is_partial: isPartial = false, searched_until: until } = runs.data ?? {};
  const finder = useMemo(() => finderOf(filter.q), [filter.q]);
  return (
    <Page width="wide">
      <PageHeader title="Runs" />
      {(hasFilter || filter.since !== undefined || total > 0) && <RunFilters filter={filter} onChange={onChange} onSearch={clear} />}
      {bulkId && <BulkProgress key={bulkId} bulkId={bulkId} onClose={() => setBulkId(null)} onDone={onDone} />}
      {canEdit && (isAll || chosen.size > 0) && (
        <BulkBar
          chosen={{ ids: [...chosen], filter: isAll ? asked : null, count: isAll ? total : chosen.size }}
          total={isPartial ? null : total}
          onAll={() => setIsAll(true)}
          onClear={clear}
          onStarted={(id) => {
            clear();
            setBulkId(id);
          }}
        />
      )}
      <TableLoading query={runs} label="Loading runs" />
      {runs.data?.total === 0 &&
        (hasFilter ? (
          <p className="py-6 text-14 text-ink-soft">No run matches these filters.</p>
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
      {until !== undefined && (
        <p role="status" className="text-12 text-ink-soft">
          There are many runs, and the search stopped at those of {formatDateTime(until)}. Narrow it by workflow, status or time to see
          further back.
        </p>
      )}
      {runs.data && total > 0 && (
        <>
          <RunsTable
            runs={runs.data.items}
            hasWorkflow
            finder={finder}
            {...(canEdit && {
              selection: {
                ids: isAll ? new Set(runs.data.items.map(({ id }) => id)) : chosen,
                onChange: (ids) => {
                  setIsAll(false);
                  setChosen(ids);
                },
              },
            })}
          />
          {isPartial && (
            <p className="-mb-3 text-right text-12 text-ink-soft">More than {formatCount(total)} match; those are counted and shown.</p>
          )}
          <Pager page={page} total={total} onPageChange={setPage} />
        </>
      )}
    </Page>
  );
}
