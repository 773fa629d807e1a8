import { type AgentToolDefinition, cutResult, failedAnswer, pageSource } from "#server/llm/tools/tool.ts";
import { SEARCH_PROVIDERS, type SearchProvider, type SearchRequest } from "#server/llm/tools/web-search-providers.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import type { SearchResult } from "#server/platform/documents/results-page.ts";
import { AppError, isAppError, messageOf } from "#server/platform/errors.ts";
import { fetchBounded } from "#server/platform/net/fetch-bounded.ts";
import { endpointReach, type Reach } from "#server/platform/net/guard.ts";
import { settings } from "#server/platform/settings.ts";

const DEFAULT_LIMIT = 8;
const MAX_LIMIT = 20;
const MAX_QUERY = 1000;
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_SNIPPET = 1000;

/** What a project has that chooses a search service. */
export interface SearchCredentials {
  /** Of its credentials those that count here, values by name. */
  credentials: ReadonlyMap<string, string>;
  /** Whether an address among them may be private; one in the operator's settings always may. */
  isPrivateAllowed?: boolean;
}

interface SearchOptions extends SearchCredentials {
  /** Whose turn it takes to read a page of results: the project. */
  owner: string;
  signal?: AbortSignal;
  /** How many results at most, 1 to 20; 8 when left out. */
  limit?: number;
  /** Changes where a request goes; for tests against a stand-in. */
  redirectTo?: (request: SearchRequest) => SearchRequest & { reach?: "any" };
}

/** The first provider that the project has a credential for, else one that the environment has, else the keyless one. */
export function chooseProvider({ credentials, isPrivateAllowed = false }: SearchCredentials): {
  provider: SearchProvider;
  value: string;
  reach: Reach;
} {
  const reachOf = ({ isOwnAddress }: SearchProvider, isAllowed: boolean): Reach => (isOwnAddress ? endpointReach(isAllowed) : "public");
  const fromCredentials = (name: string) => credentials.get(name)?.trim();
  const fromSettings = (name: NonNullable<SearchProvider["setting"]>) => settings()[name]?.trim();
  for (const provider of SEARCH_PROVIDERS) {
    const value = provider.setting && fromCredentials(provider.setting);
    if (value) return { provider, value, reach: reachOf(provider, isPrivateAllowed) };
  }
  for (const provider of SEARCH_PROVIDERS) {
    if (provider.setting === null) return { provider, value: "", reach: "public" };
    const value = fromSettings(provider.setting);
    if (value) return { provider, value, reach: reachOf(provider, true) };
  }
  throw new Error("The table of search providers has none that needs no key.");
}

const otherWays = "Ask an admin of the project to add a credential named SEARXNG_URL, BRAVE_API_KEY or TAVILY_API_KEY.";

/** What to do about an answer that is no success; nothing of the answer's own text, which may echo the key. */
function refusal(provider: SearchProvider, status: number): AppError {
  const { label, setting, advice } = provider;
  const usual =
    status === 401 || status === 403
      ? `Check the credential ${setting}.`
      : status === 429
        ? "It is asked too often: wait a little."
        : status >= 500
          ? "The fault is on its side: try again later."
          : "";
  const what = advice?.[status] ?? (setting === null ? "" : usual);
  return new AppError(
    "UPSTREAM_ERROR",
    [`${label} answered ${status}.`, what, setting === null ? otherWays : ""].filter(Boolean).join(" "),
  );
}

/** Results that lead to the web, each address once. */
function usable(results: readonly SearchResult[], limit: number): SearchResult[] {
  const byUrl = new Map<string, SearchResult>();
  for (const { url, title, snippet } of results) {
    const protocol = URL.parse(url)?.protocol;
    if (byUrl.has(url) || (protocol !== "https:" && protocol !== "http:")) continue;
    byUrl.set(url, { url, title: cleanText(title) || url, snippet: cleanText(snippet).slice(0, MAX_SNIPPET).toWellFormed() });
    if (byUrl.size === limit) break;
  }
  return [...byUrl.values()];
}

/**
 * Searches the web with the first service that is configured, best results first.
 * @throws AppError with a sentence that names the service and what to do; the signal's reason when it aborts
 */
export async function search(
  query: string,
  { owner, signal, limit = DEFAULT_LIMIT, redirectTo, ...available }: SearchOptions,
): Promise<SearchResult[]> {
  const words = query.replace(/\s+/g, " ").trim();
  if (!words) throw new AppError("VALIDATION_ERROR", "Give words to search for.");
  if (words.length > MAX_QUERY) throw new AppError("VALIDATION_ERROR", `Search for at most ${MAX_QUERY} characters.`);
  const most = Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT);
  const { provider, value, reach: ownReach } = chooseProvider(available);
  let asked: SearchRequest & { reach?: "any" };
  try {
    asked = provider.request(words, most, value);
  } catch (error) {
    throw new AppError("VALIDATION_ERROR", messageOf(error));
  }
  if (redirectTo) asked = redirectTo(asked);
  const { url, method, headers, body, reach = ownReach } = asked;
  const answer = await fetchBounded(url, {
    reach,
    method,
    headers,
    ...(body !== undefined && { body }),
    mostBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
  }).catch((error: unknown) => {
    if (isAppError(error))
      throw new AppError("UPSTREAM_ERROR", `${provider.label} cannot be asked: ${error.message}${provider.setting ? "" : ` ${otherWays}`}`);
    throw error;
  });
  if (answer.status !== 200) throw refusal(provider, answer.status);
  const results = await provider.read(Buffer.from(answer.bytes).toString("utf8"), { owner, ...(signal && { signal }) });
  if (!results) {
    const advice = provider.setting ? `Check ${provider.setting}.` : `It may take this machine for a robot. ${otherWays}`;
    throw new AppError("UPSTREAM_ERROR", `${provider.label} sent an answer that cannot be read. ${advice}`);
  }
  return usable(results, most);
}

const asText = (results: readonly SearchResult[]): string =>
  results.length === 0
    ? "Nothing was found."
    : results.map(({ title, url, snippet }, index) => `${index + 1}. ${title}\n${url}${snippet ? `\n${snippet}` : ""}`).join("\n\n");

/** web_search for one agent of a project, with what that has. */
export const webSearchTool = (project_id: string, available: SearchCredentials): AgentToolDefinition => ({
  name: "web_search",
  description:
    "Searches the web and returns titles, addresses and snippets, best first. Read a page with web_scraper where that is available.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to search for, in a few words" },
      limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, description: `How many results at most; ${DEFAULT_LIMIT} when left out` },
    },
    required: ["query"],
    additionalProperties: false,
  },
  async call(args, { signal }) {
    const { query, limit } = Object(args) as { query?: unknown; limit?: unknown };
    if (typeof query !== "string") return { result: "web_search needs a `query` of text.", success: false };
    const most = Number(limit ?? DEFAULT_LIMIT);
    try {
      const results = await search(query, {
        owner: project_id,
        ...available,
        signal,
        limit: Number.isFinite(most) ? most : DEFAULT_LIMIT,
      });
      const sources = results.map(({ url, title, snippet }) => pageSource({ url, title, text: snippet }));
      return { result: cutResult(asText(results)), success: true, ...(sources.length > 0 && { sources }) };
    } catch (error) {
      return failedAnswer(error, signal);
    }
  },
});
