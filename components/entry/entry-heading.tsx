import type { ReactNode } from "react";

export function EntryHeading({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="not-last:mb-5 flex flex-col gap-1">
      <h1 className="font-semibold text-24 text-ink">{title}</h1>
      {children && <p className="text-14 text-ink-soft">{children}</p>}
    </div>
  );
}
