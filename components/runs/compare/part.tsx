import type { ReactNode } from "react";

/** One kind of value of a node, on both sides. */
export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="flex min-w-0 flex-col gap-1.5">
    <h3 className="font-semibold text-12 text-ink-soft">{title}</h3>
    {children}
  </div>
);
