/** One thing that a search has found. */
export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

/** Longest text of a result that is looked at, tags included: what follows would be cut off anyway. */
const MOST_TEXT = 10_000;

/** A text without tags and line breaks. */
export const plain = (text: string | null | undefined): string =>
  (text ?? "")
    .slice(0, MOST_TEXT)
    .replace(/<[^<>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#x27|#39|nbsp);/g, (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " " })[name] ?? "'")
    .replace(/\s+/g, " ")
    .trim();

/**
 * What DuckDuckGo's page for browsers without scripts lists; null when it is another page. As any page of the web it is read in a
 * process of its own (`readResults`).
 */
export async function resultsOf(html: string): Promise<SearchResult[] | null> {
  const { JSDOM } = await import("jsdom");
  const { window } = new JSDOM(html);
  try {
    const { document } = window;
    if (document.querySelector('[class*="anomaly"]')) return null;
    const found = [...document.querySelectorAll(".result:not(.result--ad)")].flatMap((node) => {
      const link = node.querySelector("a.result__a");
      const href = link?.getAttribute("href");
      const address = href && URL.parse(href, "https://html.duckduckgo.com/");
      if (!address) return [];
      const url = address.searchParams.get("uddg") ?? address.href;
      return [{ url, title: plain(link?.textContent), snippet: plain(node.querySelector(".result__snippet")?.textContent) }];
    });
    return found.length > 0 || document.querySelector(".no-results, .result--no-result, #links") ? found : null;
  } finally {
    window.close();
  }
}
