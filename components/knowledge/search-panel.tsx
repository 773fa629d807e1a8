"use client";

import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useState } from "react";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Input } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { Rag, RagHit } from "#server/features/knowledge/schema.ts";

const LIMIT = 5;

/** Asks a source as an agent would, and shows what it gets. */
export function SearchPanel({ rag }: { rag: Rag }) {
  const trpc = useTRPC();
  const [text, setText] = useState("");
  const [query, setQuery] = useState("");
  const found = useQuery(
    trpc.rags.search.queryOptions({ rag_id: rag.id, query, limit: LIMIT }, { enabled: query !== "", retry: false, staleTime: 0 }),
  );
  return (
    <section aria-labelledby="try-search" className="flex min-w-0 flex-col gap-4 rounded-lg border bg-surface p-4">
      <h2 id="try-search" className="font-semibold text-16">
        Try a search
      </h2>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          const next = text.trim();
          if (next === query) void found.refetch();
          setQuery(next);
        }}
      >
        <Field label="Question" isLabelHidden className="flex-1">
          <Input value={text} maxLength={2000} placeholder="Ask as an agent would" onChange={(event) => setText(event.target.value)} />
        </Field>
        <Button type="submit" icon={<Search />} isPending={found.isFetching} disabled={text.trim() === ""}>
          Search
        </Button>
      </form>
      <div aria-live="polite" className="flex flex-col gap-3">
        <LoadFailure query={found} />
        {query !== "" && found.isPending && <Skeleton className="h-32" />}
        {[...new Set(found.data?.problems)].map((problem) => (
          <Notice key={problem} tone="waiting">
            {problem}
          </Notice>
        ))}
        {found.data?.items.length === 0 && <p className="text-14 text-ink-soft">Nothing fits. An agent would be told so.</p>}
        {found.data && found.data.items.length > 0 && (
          <ol className="flex flex-col divide-y">
            {found.data.items.map((hit, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no id, and the list changes as a whole
              <Hit key={index} hit={hit} />
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}

function Hit({ hit: { title, place, text, uri } }: { hit: RagHit }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li className="flex flex-col gap-1 py-3 first:pt-0 last:pb-0">
      <p className="flex flex-wrap gap-x-1.5 text-12">
        {uri && /^https?:/.test(uri) ? (
          <a
            href={uri}
            target="_blank"
            rel="noreferrer"
            className="font-semibold text-thread-text [overflow-wrap:anywhere] hover:underline"
          >
            {title}
          </a>
        ) : (
          <span className="font-semibold [overflow-wrap:anywhere]">{title}</span>
        )}
        {place && <span className="text-ink-faint">{place}</span>}
      </p>
      <p className={isOpen ? "whitespace-pre-wrap break-words text-14 text-ink-soft" : "line-clamp-4 break-words text-14 text-ink-soft"}>
        {text}
      </p>
      {text.length > 220 && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="min-h-6 w-fit text-12 text-ink-soft hover:text-ink hover:underline"
        >
          {isOpen ? "Show less" : "Show all"}
        </button>
      )}
    </li>
  );
}
