"use client";

import { useSearchParams } from "next/navigation";
import { useState } from "react";
import type { ListSearch } from "#components/ui/table.tsx";
import { PER_PAGE } from "#components/ui/table.tsx";
import { useDebounced } from "#components/ui/use-debounced.ts";

const PAUSE_MS = 150;

/**
 * The page of a list and the words that it is searched for, which the server looks for; it begins with those of the address (`?q=`).
 * @returns `input` for the list's query, and what its search field and pages need
 */
export function useListSearch(perPage = PER_PAGE) {
  const [page, setPage] = useState(1);
  const [text, setOwnText] = useState(useSearchParams().get("q") ?? "");
  const q = useDebounced(text.trim(), PAUSE_MS).slice(0, 200);
  const setText = (next: string) => {
    setOwnText(next);
    setPage(1);
  };
  const search: ListSearch = { text, setText, q };
  return { input: { page, per_page: perPage, ...(q && { q }) }, page, setPage, search };
}
