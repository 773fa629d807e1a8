"use client";

import { ExternalLink, FileText } from "lucide-react";
import type { RagCitation } from "#server/features/knowledge/schema.ts";

/** Where a citation leads: the page on the web, or the document here. */
function hrefOf({ uri, rag_id, document_id }: RagCitation): { href: string; isAway: boolean } {
  if (uri !== null && /^https?:\/\//i.test(uri)) return { href: uri, isAway: true };
  const query = document_id === null ? "" : `?document=${encodeURIComponent(document_id)}`;
  return { href: `/knowledge/${rag_id}${query}`, isAway: false };
}

/** The documents that an answer cites, as links; nothing when it cites none. They open beside, so that the chat stays. */
export function ChatSources({ sources }: { sources: readonly RagCitation[] }) {
  if (sources.length === 0) return null;
  return (
    <ul aria-label="Sources" className="flex min-w-0 flex-col gap-1.5">
      {sources.map((source) => {
        const { href, isAway } = hrefOf(source);
        const Icon = isAway ? ExternalLink : FileText;
        return (
          <li key={source.number} className="flex min-w-0 items-baseline gap-1.5 text-12 pointer-coarse:py-2">
            <span className="shrink-0 text-ink-faint tabular">[{source.number}]</span>
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <a href={href} target="_blank" rel="noreferrer" className="py-1.5 text-thread-text hover:underline pointer-coarse:py-2.5">
                <Icon aria-hidden className="mr-1 inline size-3 align-[-1px]" />
                {source.title}
              </a>
              {source.place !== "" && <span className="ml-1.5 text-ink-soft">{source.place}</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
