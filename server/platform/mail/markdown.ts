import { childPool } from "#server/platform/children/pool.ts";
import { framed, quote, unlinked } from "#server/platform/mail/layout.ts";

/** Time to render the texts of one mail. */
const RENDER_MS = 2000;
const MEGABYTES = 256;

const renderer = childPool<readonly string[], string[] | null>("platform/mail/markdown-process.ts", {
  most: 2,
  heapMegabytes: 2 * MEGABYTES,
  idleMs: 30_000,
});

/**
 * Renders the Markdown of one mail in a child process, each text as HTML in a box. Texts that take it too long are shown as plain text.
 * @param owner project whose mail it is
 * @param texts of any source: raw HTML in them is shown as text
 */
export async function quotedMarkdown(owner: string, texts: readonly string[]): Promise<string[]> {
  if (texts.length === 0) return [];
  const signal = new AbortController().signal;
  const outcome = await renderer.run(texts, { owner, ms: RENDER_MS, megabytes: MEGABYTES, signal: () => signal });
  const rendered = "answer" in outcome ? outcome.answer : null;

  return rendered ? rendered.map(framed) : texts.map((text) => quote(unlinked(text)));
}
