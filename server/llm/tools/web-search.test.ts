import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type FakeSearchServer, startSearchServer } from "#e2e/fakes/search-server.ts";
import { chooseProvider, search, webSearchTool } from "#server/llm/tools/web-search.ts";
import type { SearchRequest } from "#server/llm/tools/web-search-providers.ts";
import { setSettings } from "#server/platform/settings.ts";
import { setAbsentProxy } from "#server/testing/proxy-server.ts";

let server: FakeSearchServer;
beforeAll(async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "1" });
  server = await startSearchServer();
});
afterEach(() => {
  server.requests.length = 0;
  setSettings({ ALLOW_PRIVATE_NETWORK: "1", SEARXNG_URL: "", BRAVE_API_KEY: "", TAVILY_API_KEY: "" });
});
afterAll(() => server.stop());

const redirectTo = (request: SearchRequest) => ({
  ...request,
  url:
    request.url.origin === server.url
      ? request.url
      : new URL(`/${request.url.host}${request.url.pathname}${request.url.search}`, server.url),
  reach: "any" as const,
});
const searxng = () => new Map([["SEARXNG_URL", `${server.url}/searxng`]]);
const brave = () => new Map([["BRAVE_API_KEY", "brave-key"]]);
const tavily = () => new Map([["TAVILY_API_KEY", "tvly-key"]]);
const keyless = () => new Map<string, string>();
const ask = (query: string, credentials: Map<string, string>, limit?: number) =>
  search(query, { owner: "project", credentials, redirectTo, ...(limit !== undefined && { limit }) });

test("the first of the project's credentials is used, then the environment, then the one that needs no key", () => {
  const label = (...names: string[]) => chooseProvider({ credentials: new Map(names.map((name) => [name, "x"])) }).provider.label;
  expect(label("TAVILY_API_KEY", "BRAVE_API_KEY", "SEARXNG_URL")).toBe("SearXNG");
  expect(label("TAVILY_API_KEY", "BRAVE_API_KEY")).toBe("Brave Search");
  expect(label()).toBe("DuckDuckGo");
  setSettings({ SEARXNG_URL: "https://searx.example.com", BRAVE_API_KEY: "y" });
  expect(label("TAVILY_API_KEY")).toBe("Tavily");
  expect(chooseProvider({ credentials: new Map() })).toMatchObject({ provider: { label: "SearXNG" }, value: "https://searx.example.com" });
});

test.each([
  ["SearXNG", searxng],
  ["Brave Search", brave],
  ["Tavily", tavily],
  ["DuckDuckGo", keyless],
] as const)("%s: titles, addresses and snippets, as plain text", async (_, credentials) => {
  await expect(ask("looms", credentials())).resolves.toEqual([
    { title: "Looms & threads", url: "https://example.com/looms", snippet: "How a loom works." },
    { title: "Treadles", url: "https://example.org/treadles?a=1&b=2", snippet: "What feet do." },
    { title: "Shuttles", url: "https://example.net/", snippet: "" },
  ]);
  await expect(ask("looms", credentials(), 1)).resolves.toHaveLength(1);
  await expect(ask("nothing", credentials())).resolves.toEqual([]);
});

test("SearXNG is asked as its documentation says: GET /search?q=…&format=json", async () => {
  await ask("looms & threads", searxng());
  expect(server.requests).toMatchObject([
    { method: "GET", path: "/searxng/search", query: { q: "looms & threads", format: "json" }, body: "" },
  ]);
});

test("Brave is asked as its documentation says: GET with the token in X-Subscription-Token, at most 20 results", async () => {
  await ask("looms", brave(), 50);
  expect(server.requests).toMatchObject([
    {
      method: "GET",
      path: "/api.search.brave.com/res/v1/web/search",
      query: { q: "looms", count: "20" },
      headers: { "x-subscription-token": "brave-key", accept: "application/json" },
      body: "",
    },
  ]);
  await ask(Array.from({ length: 60 }, (_, index) => `w${index}`).join(" "), brave());
  expect(server.requests[1]?.query.q?.split(" ")).toHaveLength(50);
});

test("Tavily is asked as its documentation says: POST JSON with a bearer key", async () => {
  await ask("looms", tavily(), 5);
  expect(server.requests).toMatchObject([
    { method: "POST", path: "/api.tavily.com/search", headers: { authorization: "Bearer tvly-key", "content-type": "application/json" } },
  ]);
  expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({ query: "looms", max_results: 5, search_depth: "basic" });
});

test("DuckDuckGo is asked as its own form does: POST q", async () => {
  await ask("looms & threads", keyless());
  expect(server.requests).toMatchObject([
    {
      method: "POST",
      path: "/html.duckduckgo.com/html/",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "q=looms+%26+threads",
    },
  ]);
});

const project = "Ask an admin of the project to add a credential named SEARXNG_URL, BRAVE_API_KEY or TAVILY_API_KEY.";
test.each([
  ["status 401", brave, "Brave Search answered 401. Check the credential BRAVE_API_KEY."],
  ["status 429", tavily, "Tavily answered 429. It is asked too often: wait a little."],
  ["status 432", tavily, "Tavily answered 432. The plan's limit is used up."],
  ["status 403", searxng, "SearXNG answered 403. Its operator must allow the format json (search.formats in settings.yml)."],
  ["status 500", searxng, "SearXNG answered 500. The fault is on its side: try again later."],
  ["garbage", brave, "Brave Search sent an answer that cannot be read. Check BRAVE_API_KEY."],
  ["status 202", keyless, `DuckDuckGo answered 202. It takes this machine for a robot. ${project}`],
  ["robot", keyless, `DuckDuckGo sent an answer that cannot be read. It may take this machine for a robot. ${project}`],
  ["garbage", keyless, `DuckDuckGo sent an answer that cannot be read. It may take this machine for a robot. ${project}`],
] as const)("%s (%#) is told in words", async (query, credentials, message) => {
  await expect(ask(query, credentials())).rejects.toMatchObject({ message });
});

test("a service that cannot be reached is told, with the other ways for the one that needs no key", async () => {
  const nowhere = (request: SearchRequest) => ({ ...request, url: new URL("http://127.0.0.1:1/"), reach: "any" as const });
  await expect(search("x", { owner: "project", credentials: keyless(), redirectTo: nowhere })).rejects.toMatchObject({
    message: `DuckDuckGo cannot be asked: 127.0.0.1:1 does not accept connections. ${project}`,
  });
});

test("names the proxy when it cannot be reached", async () => {
  setAbsentProxy();

  await expect(search("x", { owner: "project", credentials: keyless() })).rejects.toMatchObject({
    message: expect.stringContaining("The proxy at http://127.0.0.1:1 does not accept connections. Check OUTGOING_PROXY"),
  });
});

test("a SearXNG on the own network is for who may allow that: an install admin, and the operator by the settings", async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE: "1" });
  await expect(search("x", { owner: "project", credentials: searxng() })).rejects.toMatchObject({
    message: expect.stringContaining("private or reserved network"),
  });
  await expect(search("x", { owner: "project", credentials: searxng(), isPrivateAllowed: true })).resolves.toHaveLength(3);
  setSettings({ SEARXNG_URL: `${server.url}/searxng` });
  await expect(search("x", { owner: "project", credentials: keyless() })).resolves.toHaveLength(3);
});

test("the tool answers with a list, and with what went wrong", async () => {
  const { signal } = new AbortController();
  const tool = webSearchTool("project", { credentials: searxng() });
  const page = { ...{ number: null, rag_id: null, document_id: null, place: "" }, read_at: expect.stringMatching(/^\d{4}-.*Z$/) };
  await expect(tool.call({ query: "looms", limit: 2 }, { signal })).resolves.toEqual({
    success: true,
    result:
      "1. Looms & threads\nhttps://example.com/looms\nHow a loom works.\n\n2. Treadles\nhttps://example.org/treadles?a=1&b=2\nWhat feet do.",
    sources: [
      { ...page, title: "Looms & threads", uri: "https://example.com/looms", excerpt: "How a loom works." },
      { ...page, title: "Treadles", uri: "https://example.org/treadles?a=1&b=2", excerpt: "What feet do." },
    ],
  });
  await expect(tool.call({ query: "nothing" }, { signal })).resolves.toEqual({ success: true, result: "Nothing was found." });
  await expect(tool.call({}, { signal })).resolves.toMatchObject({ success: false });
  await expect(tool.call({ query: " " }, { signal })).resolves.toMatchObject({ success: false });
  await expect(tool.call({ query: "status 500" }, { signal })).resolves.toMatchObject({ success: false });
  const reason = new Error("cancelled");
  await expect(tool.call({ query: "looms" }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
