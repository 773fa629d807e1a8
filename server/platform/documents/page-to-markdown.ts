import { charsetOf, ownCharset } from "#server/platform/charset.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { decodeText } from "#server/platform/documents/decode-text.ts";
import { removeNoise } from "#server/platform/documents/page-noise.ts";

/** An article shorter than this is taken for a mistake when the whole page has more. */
const SHORTEST_ARTICLE = 200;

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

/** Every address in full, so that a model can follow it; what is none (`javascript:`) loses its link. */
function resolveAddresses(document: Document): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[href]")) {
    if (/^https?:|^mailto:/.test(link.href)) link.setAttribute("href", link.href);
    else link.removeAttribute("href");
  }
  for (const image of document.querySelectorAll<HTMLImageElement>("img")) {
    if (image.alt.trim() && /^https?:/.test(image.src)) image.setAttribute("src", image.src);
    else image.remove();
  }
}

async function newTurndown() {
  const { default: Turndown } = await import("turndown");
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  turndown.addRule("cells", { filter: ["th", "td"], replacement: (content) => ` ${oneLine(content).replaceAll("|", "\\|")} |` });
  turndown.addRule("rows", {
    filter: "tr",
    replacement: (content, node) => {
      // cast: the rule is for rows only
      const row = node as HTMLTableRowElement;
      const isFirst = row.closest("table")?.querySelector("tr") === row;
      return `\n|${content.trimEnd()}${isFirst ? `\n|${" --- |".repeat(row.cells.length)}` : ""}`;
    },
  });
  turndown.addRule("tables", { filter: "table", replacement: (content) => `\n\n${content.replace(/\n{2,}/g, "\n").trim()}\n\n` });
  return turndown;
}

/**
 * A page of the web as Markdown: its article where Readability finds one, else its whole text. Nothing in the page is
 * run or loaded.
 * @param contentType as the server sent it, for the encoding
 */
export async function pageToMarkdown(bytes: Uint8Array, url: URL, contentType: string): Promise<{ title: string; markdown: string }> {
  // Loaded when needed: together they cost some 100 ms and 40 MB.
  const [{ JSDOM, VirtualConsole }, { Readability }, turndown] = await Promise.all([
    import("jsdom"),
    import("@mozilla/readability"),
    newTurndown(),
  ]);
  const { text: html } = await decodeText(bytes, charsetOf(contentType) ?? ownCharset(bytes));
  const { window } = new JSDOM(html, {
    url: url.href,
    virtualConsole: new VirtualConsole(), // a page's faulty styles are nobody's news
  });
  try {
    const { document } = window;
    const heading = () => document.querySelector("h1")?.textContent;
    const title = oneLine(document.title || heading() || "");
    removeNoise(document, "dialog");
    resolveAddresses(document);
    // Readability takes the document apart, so the whole is read first.
    const whole = turndown.turndown(document.body?.innerHTML ?? "");
    const article = new Readability(document).parse();
    const main = article?.content ? turndown.turndown(article.content) : "";
    const markdown = main.length >= SHORTEST_ARTICLE || main.length >= whole.length ? main : whole;
    return { title: cleanText(oneLine(article?.title ?? "") || title || url.href), markdown: cleanText(markdown).trim() };
  } finally {
    window.close();
  }
}
