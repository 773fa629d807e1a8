import { cn } from "#components/ui/cn.ts";

/** A grey bar where something will be. Give it the size of what it stands for. */
export const Skeleton = ({ className }: { className?: string }) => (
  <span aria-hidden className={cn("block h-3.5 animate-breathe rounded-sm bg-press", className)} />
);

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
