import type { ReactNode } from "react";
import { cn } from "#components/ui/cn.ts";

export interface PageHeaderProps {
  title: ReactNode;
  /** A line below, only when it adds something. */
  description?: ReactNode;
  /** Above the title: where this page belongs. */
  back?: ReactNode;
  actions?: ReactNode;
  className?: string;
}

export function PageHeader({ title, description, back, actions, className }: PageHeaderProps) {
  return (
    <header className={cn("flex flex-wrap items-start justify-between gap-x-6 gap-y-3", className)}>
      <div className="flex min-w-0 flex-col gap-1">
        {/* In the room above: a title is at the same height on every page. */}
        {back && <div className="-mt-7 h-6">{back}</div>}
        <h1 className="font-semibold text-24 text-ink [overflow-wrap:anywhere] sm:truncate">{title}</h1>
        {description && <p className="max-w-160 text-14 text-ink-soft">{description}</p>}
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}
