"use client";

import { useState } from "react";
import { useSearchText } from "#components/shell/use-search-text.ts";
import { PER_PAGE } from "#components/ui/pager.tsx";
import type { ListSearch } from "#components/ui/table.tsx";

const PAUSE_MS = 150;

/**
 * The page of a list and the words that it is searched for, which the server looks for and the address says (`?q=`).
 * @returns `input` for the list's query, and what its search field and pages need
 */
export function useListSearch(perPage = PER_PAGE) {
  const [page, setPage] = useState(1);
  const { text, setText: setOwnText, q } = useSearchText(PAUSE_MS);
  const setText = (next: string) => {
    setOwnText(next);
    setPage(1);
  };
  const search: ListSearch = { text, setText, q };
  return { input: { page, per_page: perPage, ...(q && { q }) }, page, setPage, search };
}
