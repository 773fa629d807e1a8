"use client";

import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useDebounced } from "#components/ui/use-debounced.ts";

const MOST_CHARACTERS = 200;
const wordsOf = (text: string | null): string => (text ?? "").trim().slice(0, MOST_CHARACTERS);

/**
 * What a list is searched for, which stands in the address (`?q=`): it is there again after a reload and on the way back, and what
 * leads to the page with other words, such as the command palette, takes the place of what was typed.
 * @param pauseMs how long one has stopped typing when it is asked for
 * @returns the text as it is typed, and `q`, as it is asked for
 */
export function useSearchText(pauseMs: number) {
  const { query, setQuery } = useUrlQuery();
  const told = wordsOf(query.get("q"));
  const [text, setText] = useState(told);
  const written = useRef(told);
  const q = wordsOf(useDebounced(text, pauseMs));
  const take = useEffectEvent((words: string) => {
    if (words === written.current) return;
    written.current = words;
    setText(words);
  });
  const write = useEffectEvent((words: string) => {
    if (words === written.current) return;
    written.current = words;
    setQuery({ q: words || undefined, page: undefined });
  });
  useEffect(() => take(told), [told]);
  useEffect(() => write(q), [q]);
  return { text, setText, q };
}
