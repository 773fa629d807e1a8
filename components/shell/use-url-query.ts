"use client";

import { useSearchParams } from "next/navigation";

/**
 * The query of the address, the page of a list that it names, and the way to change it: undefined takes a name out. The page stays
 * the one that it is: the server is not asked to draw it again, and its title does not go away in between. With `isStep` the
 * browser's Back takes the change back.
 */
export function useUrlQuery() {
  const query = useSearchParams();
  const setQuery = (changes: Record<string, string | undefined>, isStep = false) => {
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    const address = next.size ? `?${next}` : window.location.pathname;
    if (isStep) window.history.pushState(null, "", address);
    else window.history.replaceState(null, "", address);
  };
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const setPage = (next: number) => setQuery({ page: next === 1 ? undefined : String(next) });
  return { query, setQuery, page, setPage };
}
