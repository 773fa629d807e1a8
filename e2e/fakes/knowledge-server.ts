import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "#e2e/fakes/listen.ts";

// What knowledge sources lead to, for tests: an embedding model, a Qdrant collection, a search service and some pages.
// It is not part of the product.

export interface KnowledgeServer {
  /** Without a trailing slash; LLM keys take `${url}/v1`. */
  url: string;
  port: number;
  /** How often texts were embedded, by text. */
  embedded: Map<string, number>;
  /** Status that embeddings answer in place of vectors, for as many calls as said. */
  failEmbeddings(status: number, times: number): void;
  /** Headers of the last request by path. */
  headers: Map<string, IncomingMessage["headers"]>;
  /** What `/pages/changing` says. */
  page: string;
  stop(): Promise<void>;
}

export const DIMENSIONS = 48;

// Words that mean the same share a direction, so that a search by meaning finds what one by words does not.
const SAME: Record<string, string> = { automobile: "car", vehicle: "car", physician: "doctor", purchase: "buy", feline: "cat" };

/** A vector of a text: each word points in a direction of its own, words that mean the same in one. */
export function vectorOf(text: string): number[] {
  const vector = Array<number>(DIMENSIONS).fill(0.01);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const root = SAME[word] ?? word.replace(/s$/, "");
    let hash = 7;
    for (const letter of root) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
    const at = hash % DIMENSIONS;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

const POINTS = [
  { id: 1, text: "The car needs a new tyre.", title: "Garage", link: "https://example.com/garage" },
  { id: "0b0c9d5e-0000-4000-8000-000000000002", text: "Cats sleep for most of the day.", title: "Pets", link: null },
];

const product = (a: number[], b: number[]) => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return text ? JSON.parse(text) : {};
}

export async function startKnowledgeServer(): Promise<KnowledgeServer> {
  const embedded = new Map<string, number>();
  const headers = new Map<string, IncomingMessage["headers"]>();
  const state = { status: 0, times: 0, page: "The first version of the page is about apples." };

  const send = (response: ServerResponse, status: number, body: unknown, more: Record<string, string> = {}) =>
    response
      .writeHead(status, { "content-type": typeof body === "string" ? "text/html; charset=utf-8" : "application/json", ...more })
      .end(typeof body === "string" ? body : JSON.stringify(body));

  function embed(body: Record<string, unknown>, response: ServerResponse): void {
    const texts = [body.input].flat().map(String);
    if (state.times > 0) {
      state.times -= 1;
      send(response, state.status, { error: { message: "embeddings are not to be had" } });
      return;
    }
    if (body.model === "no-such-model") return void send(response, 404, { error: { message: "The model no-such-model does not exist" } });
    for (const text of texts) embedded.set(text, (embedded.get(text) ?? 0) + 1);
    const scale = body.model === "longer" ? [...Array<number>(8).fill(0.5)] : [];
    const data = texts.map((text, index) => ({ object: "embedding", index, embedding: [...vectorOf(text), ...scale] }));
    send(response, 200, { object: "list", model: body.model, data, usage: { prompt_tokens: 1, total_tokens: 1 } });
  }

  function qdrant(request: IncomingMessage, path: string, body: Record<string, unknown>, response: ServerResponse): void {
    if (request.headers["api-key"] !== "qdrant-secret-key")
      return void send(response, 403, { status: { error: `Forbidden: ${request.headers["api-key"]}` } });
    if (!path.startsWith("/collections/things"))
      return void send(response, 404, { status: { error: "Not found: Collection `other` doesn't exist!" } });
    if (path === "/collections/things")
      return void send(response, 200, {
        result: { points_count: POINTS.length, config: { params: { vectors: { size: DIMENSIONS, distance: "Cosine" } } } },
        status: "ok",
      });
    const near = [...POINTS].sort(
      (a, b) => product(vectorOf(b.text), body.query as number[]) - product(vectorOf(a.text), body.query as number[]),
    );
    const points = near.slice(0, Number(body.limit)).map(({ id, ...payload }) => ({ id, score: 1, payload }));
    send(response, 200, { result: { points }, status: "ok" });
  }

  function search(request: IncomingMessage, query: string, response: ServerResponse): void {
    if (request.headers.authorization !== "Bearer search-secret")
      return void send(response, 401, { error: `not allowed: ${request.headers.authorization}` });
    const found = [
      { id: "a1", body: { text: `About ${query}` }, name: "Answer", url: "https://example.com/a1" },
      { id: "a2", body: { text: "Another" }, name: "Other" },
    ];
    send(response, 200, { data: { hits: found } });
  }

  function page(path: string, response: ServerResponse): void {
    const html = (title: string, text: string) =>
      `<html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p></body></html>`;
    if (path === "/pages/changing") return void send(response, 200, html("Fruit", state.page));
    if (path === "/pages/moved") return void send(response, 302, "", { location: "/pages/changing" });
    if (path === "/pages/metadata") return void send(response, 302, "", { location: "http://169.254.169.254/latest" });
    if (path === "/pages/endless") return void send(response, 302, "", { location: "/pages/endless" });
    if (path === "/pages/picture")
      return void response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0]));
    send(response, 404, "nothing here");
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://knowledge");
    const body = await readJson(request);
    headers.set(url.pathname, request.headers);
    if (url.pathname === "/v1/embeddings") return embed(body, response);
    if (url.pathname.startsWith("/collections/")) return qdrant(request, url.pathname, body, response);
    if (url.pathname === "/search") return search(request, String(body.query ?? url.searchParams.get("query") ?? ""), response);
    page(url.pathname, response);
  });
  const listening = await listen(server);
  return {
    ...listening,
    embedded,
    headers,
    failEmbeddings: (status, times) => Object.assign(state, { status, times }),
    get page() {
      return state.page;
    },
    set page(text: string) {
      state.page = text;
    },
  };
}
