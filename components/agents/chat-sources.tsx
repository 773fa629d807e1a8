"use client";

import { ExternalLink, FileText } from "lucide-react";
import type { RagCitation } from "#server/schemas/rag.ts";

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
    <ul aria-label="Sources" className="flex min-w-0 flex-col gap-1">
      {sources.map((source) => {
        const { href, isAway } = hrefOf(source);
        const Icon = isAway ? ExternalLink : FileText;
        return (
          <li key={source.number} className="flex min-w-0 items-baseline gap-1.5 text-12">
            <span className="shrink-0 text-ink-faint tabular">[{source.number}]</span>
            <a
              href={href}
              target="_blank"
              rel="noreferrer"
              className="inline-flex min-h-6 min-w-0 items-center gap-1 text-thread-text hover:underline pointer-coarse:min-h-10"
            >
              <Icon aria-hidden className="size-3 shrink-0" />
              <span className="min-w-0 break-words [overflow-wrap:anywhere]">{source.title}</span>
            </a>
            {source.place !== "" && <span className="min-w-0 truncate text-ink-soft">{source.place}</span>}
          </li>
        );
      })}
    </ul>
  );
}
