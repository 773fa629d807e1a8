"use client";

import type { ComponentProps, ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";
import { SearchField } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { TableSkeleton } from "#components/ui/skeleton.tsx";

/** A table in a frame that scrolls sideways by itself when it is too wide. */
export function Table({ label, className, ...rest }: ComponentProps<"table"> & { label: string }) {
  return (
    <div className="relative w-full overflow-x-auto rounded-lg border bg-surface">
      <table {...rest} aria-label={label} className={cn("w-full border-collapse text-13", className)} />
    </div>
  );
}

/** The row of headings. */
export const TableHead = ({ children }: { children: ReactNode }) => (
  <thead className="text-12 text-ink-faint">
    <tr>{children}</tr>
  </thead>
);

export const TableBody = ({ className, ...rest }: ComponentProps<"tbody">) => (
  <tbody {...rest} className={cn("[&>tr]:border-t", className)} />
);

export const TableRow = ({ className, ...rest }: ComponentProps<"tr">) => (
  <tr {...rest} className={cn("transition-colors [tbody>&]:hover:bg-hover", className)} />
);

/** Of the cells of the column in which rows are selected. */
export const selectColumn = "relative z-1 w-8 pr-0 pointer-coarse:pl-4";

export const TableHeader = ({ className, ...rest }: ComponentProps<"th">) => (
  <th scope="col" {...rest} className={cn("h-8 whitespace-nowrap px-3 pointer-coarse:h-11 text-left font-semibold", className)} />
);

/** The heading of a column of buttons, which speak for themselves to those who see them. */
export const TableActionsHeader = () => (
  <TableHeader>
    <span className="sr-only">Actions</span>
  </TableHeader>
);

export const TableCell = ({ className, ...rest }: ComponentProps<"td">) => <td {...rest} className={cn("h-11 px-3 py-1.5", className)} />;

interface Query {
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => Promise<unknown>;
}

interface TableLoadingProps {
  query: Query;
  label: string;
  rows?: number;
}

/** In place of a table whose rows are still on their way, or above it: why they did not come. */
export function TableLoading({ query: { isPending, isError, error, refetch }, label, rows = 5 }: TableLoadingProps) {
  if (isError) return <LoadFailure query={{ error, refetch }} />;
  return isPending ? <TableSkeleton label={label} rows={rows} /> : null;
}

/** What a list is searched for. */
export interface ListSearch {
  /** As it is being typed. */
  text: string;
  setText: (text: string) => void;
  /** As the list was asked for it; empty for all. */
  q: string;
}

/** A name as it stands within a sentence: "members", but "API keys". */
const inSentence = (name: string) => (/^[A-Z]{2}/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1));

/** A list of no more rows is looked through faster than it is searched. */
const WORTH_SEARCHING = 10;

export interface PagedTableProps<Row> {
  label: string;
  className?: string;
  /** A page of `PER_PAGE` rows. */
  query: Query & { data: { items: readonly Row[]; total: number } | undefined };
  /** Left out, it cannot be searched. A short list shows no field for it. */
  search?: ListSearch;
  /** What is said while it loads. */
  loadingLabel: string;
  page: number;
  onPageChange: (page: number) => void;
  /** The headings. */
  head: ReactNode;
  /** In place of the table while there is nothing to list. */
  empty?: ReactNode;
  /** A row of the table. */
  children: (row: Row) => ReactNode;
}

/** A list of the server's, page by page; what stands there while it has nothing, and why it did not come. */
export function PagedTable<Row>(props: PagedTableProps<Row>) {
  const { label, className, query, search, loadingLabel, page, onPageChange, head, empty, children } = props;
  const isSearched = search !== undefined && (search.text !== "" || search.q !== "");
  const isSearchable = search && (isSearched || (query.data?.total ?? 0) > WORTH_SEARCHING);
  return (
    <>
      {isSearchable && (
        <SearchField
          label={`Search ${inSentence(label)}`}
          value={search.text}
          onValueChange={search.setText}
          className="-mb-2 sm:max-w-72"
        />
      )}
      <TableLoading query={query} label={loadingLabel} rows={3} />
      {query.data?.total === 0 && (isSearched ? <NothingMatches q={search.q} /> : empty)}
      {query.data && query.data.total > 0 && (
        <>
          <Table label={label} className={className}>
            <TableHead>{head}</TableHead>
            <TableBody>{query.data.items.map(children)}</TableBody>
          </Table>
          <Pager page={page} total={query.data.total} onPageChange={onPageChange} />
        </>
      )}
    </>
  );
}

/** A search without result. */
export const NothingMatches = ({ q }: { q: string }) => (
  <p role="status" className="py-6 text-13 text-ink-soft">
    Nothing here matches “{q}”.
  </p>
);
