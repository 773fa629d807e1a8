"use client";

import { useEffect } from "react";

/** Names the tab after something that is known only once it has been loaded; undefined leaves the page's own title. */
export function useTitle(name: string | undefined): void {
  useEffect(() => {
    if (name !== undefined) document.title = `${name} · Treadle`;
  }, [name]);
}
