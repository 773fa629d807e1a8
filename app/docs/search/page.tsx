import type { Metadata } from "next";
import { Fragment } from "react";
import { server } from "#app/server.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { Link } from "#components/ui/link.tsx";
import { thumbRoom } from "#components/ui/styles.ts";

export const metadata: Metadata = { title: "Search", robots: { index: false } };

/** How many are shown at first: the best, and few enough to be looked through. */
const SHOWN = 20;
const MOST_WRITTEN = 200;
/** Characters of a section that are shown, from a little before the first word that was asked for. */
const EXCERPT = 240;
const BEFORE = 60;

/** Text as it is read: Markdown without its signs, on one line. */
const plain = (markdown: string) =>
  markdown
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[`*]+/g, "")
    .replace(/[|#>]+|-{3,}|^- /gm, " ")
    .replace(/\s+/g, " ")
    .trim();

/** Finds the beginnings of words; null when nothing is asked for. */
function beginningsOf(query: string): RegExp | null {
  const words = query.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  return words.length === 0 ? null : new RegExp(`(?<![\\p{L}\\p{N}_])(${words.join("|")})`, "giu");
}

function Marked({ text, words }: { text: string; words: RegExp | null }) {
  if (!words) return text;
  return text.split(words).map((piece, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, which does not change
    index % 2 ? <mark key={index}>{piece}</mark> : <Fragment key={index}>{piece}</Fragment>,
  );
}

interface Asked {
  q?: string | string[];
  /** There, whatever it says: all that was found. */
  all?: string | string[];
}

/** The sections of the guide that have the words of `?q=` in them. */
export default async function SearchPage({ searchParams }: { searchParams: Promise<Asked> }) {
  const { q: asked = "", all } = await searchParams;
  const query = (Array.isArray(asked) ? asked.join(" ") : asked).slice(0, MOST_WRITTEN);
  const found = (await server()).searchGuide(query, Number.POSITIVE_INFINITY);
  const shown = all === undefined ? found.slice(0, SHOWN) : found;
  const words = beginningsOf(query);
  return (
    <div className="max-w-192">
      <h1 className="font-semibold text-24 text-ink">{query ? `“${query}” in the guide` : "Search the guide"}</h1>
      {found.length > 0 && (
        <p className="mt-1 text-14 text-ink-soft">{found.length === 1 ? "1 section" : `${found.length} sections, the best first`}</p>
      )}
      {found.length === 0 && (
        <p className="mt-3 text-14 text-ink-soft">
          {query
            ? "No page has these words. Try fewer or other ones: the guide is in English."
            : "Write what you look for into the field above."}
        </p>
      )}
      <ol className="mt-4 flex flex-col gap-5">
        {shown.map(({ path, title, text }) => {
          const line = plain(text);
          const from = Math.max(0, line.search(words ?? /^/) - BEFORE);
          const begins = from === 0 ? 0 : line.indexOf(" ", from) + 1;
          const excerpt =
            line.slice(begins).length > EXCERPT ? `${line.slice(begins, begins + EXCERPT).replace(/\s\S*$/, "")} …` : line.slice(begins);
          return (
            <li key={`${path} ${title}`}>
              <Link href={path} className={cn("font-semibold text-14 text-thread-text hover:underline", thumbRoom)}>
                <Marked text={title} words={words} />
              </Link>
              <p className="mt-0.5 break-words text-14 text-ink-soft">
                {begins > 0 && "… "}
                <Marked text={excerpt} words={words} />
              </p>
            </li>
          );
        })}
      </ol>
      {shown.length < found.length && (
        <Button asChild className="mt-6">
          <Link href={`/docs/search?${new URLSearchParams({ q: query, all: "1" })}`} scroll={false}>
            Show all {found.length}
          </Link>
        </Button>
      )}
    </div>
  );
}
