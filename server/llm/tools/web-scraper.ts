import { LRUCache } from "lru-cache";
import { MAX_ROBOTS_BYTES, parseRobots, type Robots } from "#server/llm/tools/robots.ts";
import { type AgentToolDefinition, failedAnswer, MAX_RESULT_CHARACTERS, pageSource } from "#server/llm/tools/tool.ts";
import { MOST_BYTES } from "#server/platform/documents/page-content.ts";
import { readContent } from "#server/platform/documents/reader.ts";
import { AppError } from "#server/platform/errors.ts";
import { assertSuccess, fetchBounded, USER_AGENT } from "#server/platform/net/fetch-bounded.ts";
import { chosenReach } from "#server/platform/net/guard.ts";

/** The word that robots.txt files know us by. */
const TOKEN = "Treadle";
const TIMEOUT_MS = 30_000;
const ROBOTS_TIMEOUT_MS = 10_000;
const MOST_REDIRECTS = 5;

const ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/pdf;q=0.9,*/*;q=0.5";

interface ScrapedPage {
  /** Where it came from, after redirects. */
  url: string;
  title: string;
  markdown: string;
  /** Whether the page goes on where `markdown` ends. */
  truncated: boolean;
}

// What each server said, so that ten pages of one site do not fetch its robots.txt ten times.
const known = new LRUCache<string, Robots>({ max: 500, ttl: 60 * 60 * 1000 });

const EVERYTHING: Robots = { allows: () => true };
const NOTHING: Robots = { allows: () => false };

async function robotsOf(origin: string, signal: AbortSignal): Promise<Robots> {
  const cached = known.get(origin);
  if (cached) return cached;
  const { status, bytes } = await fetchBounded(new URL("/robots.txt", origin), {
    reach: chosenReach(),
    headers: { accept: "text/plain,*/*;q=0.5", "user-agent": USER_AGENT },
    mostBytes: MAX_ROBOTS_BYTES,
    timeoutMs: ROBOTS_TIMEOUT_MS,
    redirects: MOST_REDIRECTS,
    signal,
  });
  // RFC 9309: without such a file everything is open; while the server cannot say, nothing is.
  const isFound = status >= 200 && status < 300;
  const robots = isFound ? parseRobots(Buffer.from(bytes).toString("utf8"), TOKEN) : status >= 500 ? NOTHING : EVERYTHING;
  if (robots !== NOTHING) known.set(origin, robots); // else asked again next time
  return robots;
}

async function assertAllowed(url: URL, signal: AbortSignal): Promise<void> {
  const robots = await robotsOf(url.origin, signal);
  if (robots === NOTHING)
    throw new AppError("UPSTREAM_ERROR", `${url.host} cannot say just now what may be read (its robots.txt fails). Try again later.`);
  if (!robots.allows(url.pathname + url.search))
    throw new AppError("VALIDATION_ERROR", `${url.host} does not want programs to read ${url.pathname} (robots.txt). Use another source.`);
}

/** The address as a model may write it. */
function addressOf(text: string): URL {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:/i.test(trimmed) && !/^[^/]+:\d+(\/|$)/.test(trimmed) ? trimmed : `https://${trimmed}`);
  if (!url) throw new AppError("VALIDATION_ERROR", "This is no address. Give one such as https://example.com/page.");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new AppError("VALIDATION_ERROR", "Only addresses of http and https can be read.");
  if (url.username || url.password) throw new AppError("VALIDATION_ERROR", "Leave the user name and password out of the address.");
  url.hash = "";
  return url;
}

interface ScrapeOptions {
  /** Whose turn the reading takes: the project. */
  owner: string;
  signal: AbortSignal;
  /** Where `markdown` is cut. */
  mostCharacters?: number;
}

/**
 * Reads a page or a file of the web: HTML as Markdown, PDF, Word and text files as text. robots.txt is honoured, for each
 * server that a redirect leads to as well.
 * @throws AppError with a sentence; the signal's reason when it aborts
 */
export async function scrape(address: string, options: ScrapeOptions): Promise<ScrapedPage> {
  const { owner, signal, mostCharacters = MAX_RESULT_CHARACTERS } = options;
  const url = addressOf(address);
  await assertAllowed(url, signal);
  const answer = await fetchBounded(url, {
    reach: chosenReach(),
    headers: { accept: ACCEPT, "user-agent": USER_AGENT },
    mostBytes: MOST_BYTES,
    timeoutMs: TIMEOUT_MS,
    redirects: MOST_REDIRECTS,
    onRedirect: (to) => assertAllowed(to, signal),
    signal,
  });
  assertSuccess(answer);
  const { bytes, isCut } = answer;
  const contentType = answer.headers.get("content-type") ?? "";
  const { title, markdown } = await readContent({ url: answer.url.href, bytes, isCut, contentType }, { owner, signal });
  if (!markdown)
    throw new AppError("VALIDATION_ERROR", "The page has no text of its own: it may need a browser that runs scripts. Use another source.");
  return {
    url: answer.url.href,
    title,
    markdown: markdown.slice(0, mostCharacters).toWellFormed(),
    truncated: answer.isCut || markdown.length > mostCharacters,
  };
}

/** The tool for an agent of this project. */
export const webScraperTool = (project_id: string): AgentToolDefinition => ({
  name: "web_scraper",
  description: "Reads one page of the web, or a PDF, and returns its main text as Markdown with its links.",
  parameters: {
    type: "object",
    properties: { url: { type: "string", description: "The address, such as https://example.com/page" } },
    required: ["url"],
    additionalProperties: false,
  },
  async call(args, { signal }) {
    const { url } = Object(args) as { url?: unknown };
    if (typeof url !== "string") return { result: "web_scraper needs a `url` of text.", success: false };
    try {
      const page = await scrape(url, { owner: project_id, signal });
      const end = page.truncated ? "\n\n[cut here: the page goes on]" : "";
      const { title, markdown: text } = page;
      const sources = [pageSource({ url: page.url, title: title || page.url, text })];
      return { result: `# ${title}\n${page.url}\n\n${text}${end}`, success: true, sources };
    } catch (error) {
      return failedAnswer(error, signal);
    }
  },
});
