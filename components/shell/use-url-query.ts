"use client";

import { usePathname, useRouter, useSearchParams } from "next/navigation";

/** The query of the address, the page of a list that it names, and the way to change it: undefined takes a name out. */
export function useUrlQuery() {
  const router = useRouter();
  const path = usePathname();
  const query = useSearchParams();
  const setQuery = (changes: Record<string, string | undefined>) => {
    const next = new URLSearchParams(query);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    router.replace(next.size ? `${path}?${next}` : path, { scroll: false });
  };
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const setPage = (next: number) => setQuery({ page: next === 1 ? undefined : String(next) });
  return { query, setQuery, page, setPage };
}
