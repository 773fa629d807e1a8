import { z } from "zod";
import { type ReadLimits, readResults } from "#server/platform/documents/reader.ts";
import { plain, type SearchResult } from "#server/platform/documents/results-page.ts";
import { USER_AGENT } from "#server/platform/net/fetch-bounded.ts";

export interface SearchRequest {
  method: "GET" | "POST";
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

/** A search service: how it is asked and how its answer is read. */
export interface SearchProvider {
  label: string;
  /** The credential or setting that chooses it; null: the one that needs none. */
  setting: "SEARXNG_URL" | "BRAVE_API_KEY" | "TAVILY_API_KEY" | null;
  /** Whether its setting is the address that is asked, and so may be on a private network. */
  isOwnAddress: boolean;
  /**
   * @param value of the setting; "" for the one that needs none
   * @throws Error when the value cannot be right
   */
  request(query: string, limit: number, value: string): SearchRequest;
  /** @returns undefined when the text is not an answer of this service */
  read(text: string, limits: ReadLimits): Promise<SearchResult[] | undefined> | SearchResult[] | undefined;
  /** What to do about a status that is no success, beyond the usual. */
  advice?: Record<number, string>;
}

function parsed<Shape extends z.ZodType>(schema: Shape, text: string): z.output<Shape> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const text = z.string().nullish();
const Searxng = z.object({ results: z.array(z.object({ url: z.string(), title: text, content: text })) });
const Brave = z.object({
  type: text,
  web: z.object({ results: z.array(z.object({ url: z.string(), title: text, description: text })) }).nullish(),
});
const Tavily = z.object({ results: z.array(z.object({ url: z.string(), title: text, content: text })) });

/** Search API of SearXNG: docs.searxng.org/dev/search_api.html. It has no parameter for the number of results. */
const searxng: SearchProvider = {
  label: "SearXNG",
  setting: "SEARXNG_URL",
  isOwnAddress: true,
  request(query, _limit, value) {
    const base = URL.parse(value);
    if (!base || !/^https?:$/.test(base.protocol)) throw new Error("SEARXNG_URL is not an address such as https://searx.example.com.");
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/(?<!\/)\/+$/, "").replace(/\/search$/, "")}/search`;
    url.search = new URLSearchParams({ q: query, format: "json" }).toString();
    return { method: "GET", url, headers: { accept: "application/json", "user-agent": USER_AGENT } };
  },
  read: (body) => parsed(Searxng, body)?.results.map(({ url, title, content }) => ({ url, title: plain(title), snippet: plain(content) })),
  advice: { 403: "Its operator must allow the format json (search.formats in settings.yml)." },
};

/** Brave Search API, web search: api-dashboard.search.brave.com/api-reference/web/search/get. */
const brave: SearchProvider = {
  label: "Brave Search",
  setting: "BRAVE_API_KEY",
  isOwnAddress: false,
  request(query, limit, value) {
    const url = new URL("https://api.search.brave.com/res/v1/web/search");
    // At most 400 characters and 50 words.
    const short = query.split(/\s+/).slice(0, 50).join(" ").slice(0, 400);
    url.search = new URLSearchParams({ q: short, count: String(Math.min(limit, 20)) }).toString();
    return { method: "GET", url, headers: { accept: "application/json", "x-subscription-token": value } };
  },
  read: (body) => {
    const answer = parsed(Brave, body);
    return (
      answer &&
      (answer.web?.results ?? []).map(({ url, title, description }) => ({ url, title: plain(title), snippet: plain(description) }))
    );
  },
  advice: { 422: "Check the credential BRAVE_API_KEY." },
};

/** Tavily Search: docs.tavily.com/documentation/api-reference/endpoint/search. */
const tavily: SearchProvider = {
  label: "Tavily",
  setting: "TAVILY_API_KEY",
  isOwnAddress: false,
  request: (query, limit, value) => ({
    method: "POST",
    url: new URL("https://api.tavily.com/search"),
    headers: { accept: "application/json", "content-type": "application/json", authorization: `Bearer ${value}` },
    body: JSON.stringify({ query, max_results: Math.min(limit, 20), search_depth: "basic" }),
  }),
  read: (body) => parsed(Tavily, body)?.results.map(({ url, title, content }) => ({ url, title: plain(title), snippet: plain(content) })),
  advice: { 432: "The plan's limit is used up.", 433: "The limit of pay-as-you-go is used up." },
};

/** DuckDuckGo's page for browsers without scripts. It has no contract and may refuse machines: the last resort. */
const duckduckgo: SearchProvider = {
  label: "DuckDuckGo",
  setting: null,
  isOwnAddress: false,
  request: (query) => ({
    method: "POST",
    url: new URL("https://html.duckduckgo.com/html/"),
    headers: { accept: "text/html", "content-type": "application/x-www-form-urlencoded", "user-agent": USER_AGENT },
    body: new URLSearchParams({ q: query }).toString(),
  }),
  read: async (body, limits) => (await readResults(body, limits)) ?? undefined,
  advice: {
    202: "It takes this machine for a robot.",
    403: "It takes this machine for a robot.",
    418: "It takes this machine for a robot.",
  },
};

/** In the order in which they are looked for; the last needs nothing. */
export const SEARCH_PROVIDERS: readonly SearchProvider[] = [searxng, brave, tavily, duckduckgo];
