import { removeNoise } from "#server/platform/documents/page-noise.ts";
import { AppError } from "#server/platform/errors.ts";

/** Longest page that is taken apart, in characters: a tree of it costs many times as much memory. */
const MOST_HTML = 3_000_000;

/**
 * A page as Markdown. With `isWebPage` only what Readability takes for its article, if it finds one: a page of the web is
 * mostly frame, while a file that somebody uploads is meant as a whole. Nothing in the page is run or loaded.
 * @throws AppError VALIDATION_ERROR when it is too long
 */
export async function htmlToMarkdown(
  html: string,
  { url, isWebPage = false }: { url?: string; isWebPage?: boolean } = {},
): Promise<{ title: string | undefined; markdown: string }> {
  if (html.length > MOST_HTML) throw new AppError("VALIDATION_ERROR", "The page is longer than 3 million characters. Split it up.");
  // Loaded when needed: together they cost some 100 ms and 40 MB.
  const [{ JSDOM }, { Readability }, { default: Turndown }] = await Promise.all([
    import("jsdom"),
    import("@mozilla/readability"),
    import("turndown"),
  ]);
  const { window } = new JSDOM(html, url === undefined ? {} : { url });
  try {
    const { document } = window;
    const title = document.querySelector("title")?.textContent?.trim() || document.querySelector("h1")?.textContent?.trim() || undefined;
    const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
    // Addresses and pictures are noise for a search; their words stay.
    turndown.addRule("words of links", { filter: "a", replacement: (content) => content });
    turndown.addRule("no pictures", { filter: "img", replacement: (_, node) => node.getAttribute("alt") ?? "" });
    turndown.addRule("rows", { filter: ["tr"], replacement: (content) => `${content.trim().replace(/ \|$/, "")}\n` });
    turndown.addRule("cells", { filter: ["td", "th"], replacement: (content) => `${content.trim().replace(/\s+/g, " ")} | ` });
    removeNoise(document, "nav");
    // Readability takes the document apart, so it works on a copy.
    const article = isWebPage ? new Readability(document.cloneNode(true) as Document).parse() : null;
    const whole = turndown.turndown(document.body?.innerHTML ?? "");
    const main = article?.content ? turndown.turndown(article.content) : "";
    return { title: article?.title?.trim() || title, markdown: main.length > 200 ? main : whole };
  } finally {
    window.close();
  }
}
