"use client";

import { ExternalLink, FileText } from "lucide-react";
import { Time } from "#components/ui/time.tsx";
import type { ToolSource } from "#server/runs/tool-call-schema.ts";

/** Numbers in brackets, as models cite: [2], [1, 3], 【2】. */
const CITED = /[[【]\s*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*[\]】]/g;
/** A title that is shorter may stand in a text by chance. */
const SHORTEST_TITLE = 4;

/** What an answer cites of what was found for it, by number, by title and place or by address: each once, numbers in their order first. */
export function citedIn(text: string, found: readonly ToolSource[]): ToolSource[] {
  const numbers = new Set([...text.matchAll(CITED)].flatMap(([, list = ""]) => list.split(",").map(Number)));
  const isNamed = ({ title, place, uri }: ToolSource) =>
    (title.length >= SHORTEST_TITLE && text.includes(title) && text.includes(place.split(" › ").at(-1) ?? "")) ||
    (uri !== null && text.includes(uri));
  const cited = found.filter((source) => (source.number !== null && numbers.has(source.number)) || isNamed(source));
  return eachOnce(cited).sort((a, b) => (a.number ?? Number.POSITIVE_INFINITY) - (b.number ?? Number.POSITIVE_INFINITY) || 0);
}

/** The same piece or page may have been found by several searches. */
export const eachOnce = (sources: readonly ToolSource[]): ToolSource[] => [
  ...new Map(sources.map((source) => [source.number ?? source.uri ?? source.title, source])).values(),
];

/** Words of a page by which a browser finds a place in it. */
const WORDS = 8;

/** Where a source leads: to its passage in the document here, or to the page on the web; null when its address was too long to keep. */
export function hrefOf({ uri, rag_id, document_id, excerpt, read_at }: ToolSource): { href: string; isAway: boolean } | null {
  const isPage = uri !== null && /^https?:\/\//i.test(uri);
  // What is kept here is what the agent was given; the page that it came from may have changed since.
  const isKept = rag_id !== null && document_id !== null && read_at !== null;
  if (isPage && !isKept) {
    const words = rag_id === null ? [] : (excerpt.split("\n")[0] ?? "").split(/\s+/).slice(0, WORDS);
    const place = words.length > 2 && !uri.includes("#") ? `#:~:text=${encodeURIComponent(words.join(" ")).replaceAll("-", "%2D")}` : "";
    return { href: uri + place, isAway: true };
  }
  if (rag_id === null) return null;
  const query = new URLSearchParams(document_id === null ? {} : { document: document_id, ...(isKept && excerpt && { passage: excerpt }) });
  return { href: `/knowledge/${rag_id}${query.size ? `?${query}` : ""}`, isAway: false };
}

interface SourceListProps {
  sources: readonly ToolSource[];
  label?: string;
  /** With how each begins. */
  hasExcerpts?: boolean;
}

/** Pieces and pages as links, with their age; nothing when there are none. They open beside, so that what one reads stays. */
export function SourceList({ sources, label = "Sources", hasExcerpts = false }: SourceListProps) {
  if (sources.length === 0) return null;
  return (
    <ul aria-label={label} className="flex min-w-0 flex-col gap-1.5">
      {sources.map((source, index) => {
        const { number, title, place, excerpt, read_at } = source;
        const link = hrefOf(source);
        const Icon = link?.isAway ? ExternalLink : FileText;
        return (
          <li key={index.toString()} className="flex min-w-0 items-baseline gap-1.5 text-12 pointer-coarse:py-2">
            {number !== null && <span className="shrink-0 text-ink-faint tabular">[{number}]</span>}
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {link ? (
                <a
                  href={link.href}
                  target="_blank"
                  rel="noreferrer"
                  className="py-1.5 text-thread-text underline underline-offset-2 pointer-coarse:py-2.5"
                >
                  <Icon aria-hidden className="mr-1 inline size-3 align-[-1px]" />
                  {title}
                </a>
              ) : (
                title
              )}
              {place !== "" && <span className="ml-1.5 text-ink-soft">{place}</span>}
              {read_at && (
                <span className="ml-1.5 whitespace-nowrap text-ink-faint">
                  read <Time value={read_at} />
                </span>
              )}
              {hasExcerpts && excerpt !== "" && <span className="mt-0.5 line-clamp-2 text-ink-soft">{excerpt}</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
