"use client";

import { LoadFailure } from "#components/ui/load-failure.tsx";
import { TableSkeleton } from "#components/ui/table-skeleton.tsx";

interface TableLoadingProps {
  query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => Promise<unknown> };
  label: string;
  rows?: number;
}

/** In place of a table whose rows are still on their way, or above it: why they did not come. */
export function TableLoading({ query: { isPending, isError, error, refetch }, label, rows = 5 }: TableLoadingProps) {
  if (isError) return <LoadFailure error={error} onRetry={() => void refetch()} />;
  return isPending ? <TableSkeleton label={label} rows={rows} /> : null;
}
