import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { listen } from "#e2e/fakes/listen.ts";

// Stands in for the search services, each under its own name as first part of the path, in the format that its
// documentation gives: /api.search.brave.com/res/v1/web/search, /api.tavily.com/search, /searxng/search,
// /html.duckduckgo.com/html/. A query such as "status 429" is refused with that status.

export interface ReceivedSearch {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface FakeSearchServer {
  url: string;
  requests: ReceivedSearch[];
  stop(): Promise<void>;
}

const RESULTS = [
  { title: "Looms & threads", url: "https://example.com/looms", text: "How a <strong>loom</strong> works." },
  { title: "Treadles", url: "https://example.org/treadles?a=1&b=2", text: "What feet do." },
  { title: "Shuttles", url: "https://example.net/", text: "" },
];

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

function page(query: string): string {
  if (query === "robot")
    return '<html><form id="challenge-form"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></form></html>';
  if (query === "nothing") return '<html><div id="links"><div class="no-results">No results.</div></div></html>';
  const results = RESULTS.map(
    ({ title, url, text }) => `<div class="result results_links results_links_deep web-result"><div class="links_main result__body">
      <h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc">${escaped(title)}</a></h2>
      <a class="result__snippet" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=abc">${text.replace(/strong/g, "b")}</a></div></div>`,
  );
  const advert = '<div class="result results_links result--ad"><a class="result__a" href="https://ads.example/">Buy looms</a></div>';
  return `<html><body><div id="links" class="results">${advert}${results.join("")}</div></body></html>`;
}

function answer({ path, query, body }: ReceivedSearch, response: ServerResponse): void {
  const json = (value: unknown) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  const asked = path === "/api.tavily.com/search" ? JSON.parse(body).query : (query.q ?? new URLSearchParams(body).get("q") ?? "");
  const status = Number(/^status (\d{3})$/.exec(asked)?.[1]);
  if (status) return void response.writeHead(status, { "content-type": "text/plain" }).end("refused");
  if (asked === "garbage") return void response.writeHead(200).end("<html>not what was asked for</html>");
  const found = asked === "nothing" ? [] : RESULTS;
  switch (path) {
    case "/searxng/search":
      return void json({
        query: asked,
        number_of_results: 0,
        results: found.map(({ title, url, text }) => ({ url, title, content: text, engine: "x" })),
      });
    case "/api.search.brave.com/res/v1/web/search": {
      const results = found.map(({ title, url, text }) => ({ type: "search_result", title: escaped(title), url, description: text }));
      // Without web results the field is left out.
      return void json({ type: "search", query: { original: asked }, ...(results.length && { web: { type: "search", results } }) });
    }
    case "/api.tavily.com/search":
      return void json({
        query: asked,
        answer: null,
        images: [],
        results: found.map(({ text, ...rest }) => ({ ...rest, content: text, score: 0.9 })),
      });
    case "/html.duckduckgo.com/html/":
      return void response.writeHead(200, { "content-type": "text/html; charset=UTF-8" }).end(page(asked));
    default:
      response.writeHead(404).end();
  }
}

export async function startSearchServer({ port = 0 }: { port?: number } = {}): Promise<FakeSearchServer> {
  const requests: ReceivedSearch[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const url = new URL(incoming.url ?? "/", "http://search");
    const request: ReceivedSearch = {
      method: incoming.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: incoming.headers,
      body: Buffer.concat(parts).toString("utf8"),
    };
    requests.push(request);
    answer(request, response);
  });
  return { ...(await listen(server, port)), requests };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "4030" } } });
  const server = await startSearchServer({ port: Number(values.port) });
  process.stdout.write(`The search services answer at ${server.url}\n`);
}
