"use client";

import { type ReactNode, useEffect } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { cn } from "#components/ui/cn.ts";

const WIDTHS = { narrow: "max-w-192", normal: "max-w-360", wide: "max-w-none" } as const;

/** The column that a page's content stands in. `narrow` (48 rem) for settings and forms, `normal` (90 rem) for lists and tables, `wide` for what uses all there is. */
export function Page({ width = "normal", className, children }: { width?: keyof typeof WIDTHS; className?: string; children: ReactNode }) {
  return (
    <div className={cn("mx-auto flex w-full flex-col gap-6 px-8 pt-8 pb-16 max-md:gap-5 max-md:px-4", WIDTHS[width], className)}>
      {children}
    </div>
  );
}

const shown = createStore<{ page: { path: string; title: string } | null }>(() => ({ page: null }));

/** Names the tab after something that is known only once it has been loaded; undefined leaves the page's own title. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return;
    document.title = `${name} · Treadle`;
    shown.setState({ page: { path: location.pathname, title: name } });
  }, [name]);
}

/** What was named so last, and where. */
export const useShownTitle = () => useStore(shown, ({ page }) => page);
