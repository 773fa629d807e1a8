import type { ComponentProps } from "react";
import { cn } from "#components/ui/cn.ts";

/** A table in a frame that scrolls sideways by itself when it is too wide. */
export function Table({ label, className, ...rest }: ComponentProps<"table"> & { label: string }) {
  return (
    <div className="relative w-full overflow-x-auto rounded-lg border bg-surface">
      <table {...rest} aria-label={label} className={cn("w-full border-collapse text-13", className)} />
    </div>
  );
}

export const TableHead = ({ className, ...rest }: ComponentProps<"thead">) => (
  <thead {...rest} className={cn("text-11 text-ink-faint", className)} />
);

export const TableBody = ({ className, ...rest }: ComponentProps<"tbody">) => (
  <tbody {...rest} className={cn("[&>tr]:border-t", className)} />
);

export const TableRow = ({ className, ...rest }: ComponentProps<"tr">) => (
  <tr {...rest} className={cn("transition-colors [tbody>&]:hover:bg-hover", className)} />
);

export const TableHeader = ({ className, ...rest }: ComponentProps<"th">) => (
  <th scope="col" {...rest} className={cn("h-8 whitespace-nowrap px-3 text-left font-medium", className)} />
);

/** The heading of a column of buttons, which speak for themselves to those who see them. */
export const TableActionsHeader = () => (
  <TableHeader>
    <span className="sr-only">Actions</span>
  </TableHeader>
);

export const TableCell = ({ className, ...rest }: ComponentProps<"td">) => <td {...rest} className={cn("h-11 px-3 py-1.5", className)} />;
