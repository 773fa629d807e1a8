"use client";

import { ChevronLeft, ChevronRight } from "lucide-react";
import { type ComponentProps, type ReactNode, useEffect, useEffectEvent } from "react";
import { formatCount } from "#components/format.ts";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";

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

const WIDTHS = ["w-2/5", "w-1/4", "w-1/3", "w-1/5", "w-2/6"] as const;

/** A table that is still loading, in the height of the rows to come. */
export function TableSkeleton({ label, rows = 5 }: { label: string; rows?: number }) {
  return (
    <div role="status" className="overflow-hidden rounded-lg border bg-surface">
      <span className="sr-only">{label}</span>
      <div className="h-8" />
      {Array.from({ length: rows }, (_, row) => (
        <div key={`row ${row.toString()}`} className="flex h-11 items-center gap-6 border-t px-3">
          <Skeleton className={WIDTHS[row % WIDTHS.length] ?? "w-1/3"} />
          <Skeleton className="ml-auto w-24" />
        </div>
      ))}
    </div>
  );
}

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

/** How many rows a list is asked for at a time. */
export const PER_PAGE = 50;

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

interface PagedTableProps<Row> {
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

interface PagerProps {
  page: number;
  perPage?: number;
  total: number;
  onPageChange: (page: number) => void;
}

/** Which part of a list is shown, and the way to the next. Nothing while all of it fits on one page. */
export function Pager({ page, perPage = PER_PAGE, total, onPageChange }: PagerProps) {
  const last = Math.max(1, Math.ceil(total / perPage));
  // What stood on the page that is shown is gone, or an address names one that never was.
  const isBeyond = page > last;
  const goBack = useEffectEvent(() => onPageChange(last));
  useEffect(() => {
    if (isBeyond) goBack();
  }, [isBeyond]);
  if (last === 1 && page === 1) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-1 text-12 text-ink-soft">
      <span className="mr-2 tabular">
        {formatCount(Math.min((page - 1) * perPage + 1, total))}–{formatCount(Math.min(page * perPage, total))} of {formatCount(total)}
      </span>
      <IconButton label="Previous page" icon={<ChevronLeft />} disabled={page <= 1} onClick={() => onPageChange(page - 1)} />
      <IconButton label="Next page" icon={<ChevronRight />} disabled={page >= last} onClick={() => onPageChange(page + 1)} />
    </nav>
  );
}
