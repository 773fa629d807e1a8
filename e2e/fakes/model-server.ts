import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { type Answer, type ChatRequest, ChunkWriter, sendAsIs, sendCompletion, sendError } from "#e2e/fakes/chat-wire.ts";
import { type Dialect, dialectOf } from "#e2e/fakes/dialects.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { isProbe, LISTED_MODELS, lastUserMessage, type Script, scriptFor } from "#e2e/fakes/model-script.ts";
import { type ScriptStep, stepFor } from "#e2e/fakes/scripted-model.ts";
import { vendorError } from "#e2e/fakes/vendor-errors.ts";
import { vendorListing } from "#e2e/fakes/vendor-listings.ts";

// A model provider for tests: a real HTTP server that speaks OpenAI's chat-completions format. What it does is said by
// the request itself (model-script.ts), so tests that run side by side share no state. It is not part of the product.
//
//   node e2e/fakes/model-server.ts --port 4010
//
// Beside /v1 it has  GET /_calls?contains=…&model=…   POST /_release?id=…   POST /_script?id=… (steps as JSON)   POST /_reset
// for use from other processes.

/** One chat completion that was asked for. */
export interface ModelCall {
  id: string;
  model: string;
  /** Text of the last user message. */
  message: string;
  stream: boolean;
  /** True for the tiny call that checks a key and a model when an agent is saved. */
  probe: boolean;
  outcome: "running" | "waiting" | "answered" | "refused" | "dropped" | "aborted";
  /** Its header Idempotency-Key. */
  key: string | undefined;
  request: ChatRequest;
}

export interface CallFilter {
  /** Part of the last user message. */
  contains?: string;
  model?: string;
}

export interface ModelServer {
  /** Base URL for an LLM key, ending in /v1. */
  url: string;
  port: number;
  calls(filter?: CallFilter): ModelCall[];
  /** Opens the gate of `gate-<id>`, for those who wait at it and those who come later. */
  release(id: string): void;
  /** Says what the model `script-<id>` answers, step by step. */
  script(id: string, steps: readonly ScriptStep[]): void;
  /** Forgets all calls and shuts all gates. */
  reset(): void;
  stop(): Promise<void>;
}

/** The key that every endpoint refuses. */
export const WRONG_KEY = "wrong-key";

/** One call and the connection that it came on. */
interface Line {
  call: ModelCall;
  response: ServerResponse;
  gone: AbortSignal;
  dialect: Dialect;
  /** The dialect's name, empty where none was asked for. */
  vendor: string;
}

const withoutSchema = ({ response_format: _, ...request }: ChatRequest): ChatRequest => request;

const pause = (ms: number) => new Promise<void>((resolve) => (ms > 0 ? setTimeout(resolve, ms) : setImmediate(resolve)));

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

class Provider {
  readonly #calls: ModelCall[] = [];
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #failures = new Map<string, number>();
  readonly #scripts = new Map<string, readonly ScriptStep[]>();
  #count = 0;

  calls({ contains, model }: CallFilter = {}): ModelCall[] {
    return this.#calls.filter(
      (call) => (contains === undefined || call.message.includes(contains)) && (model === undefined || call.model === model),
    );
  }

  release(id: string): void {
    this.#open.add(id);
    for (const go of this.#waiting.get(id) ?? []) go();
    this.#waiting.delete(id);
  }

  script(id: string, steps: readonly ScriptStep[]): void {
    this.#scripts.set(id, steps);
  }

  reset(): void {
    this.#scripts.clear();
    this.#calls.length = 0;
    this.#open.clear();
    this.#failures.clear();
  }

  async #gate(id: string, call: ModelCall, gone: AbortSignal): Promise<void> {
    if (this.#open.has(id)) return;
    call.outcome = "waiting";
    await new Promise<void>((resolve) => {
      const waiters = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiters.add(resolve));
      gone.addEventListener("abort", () => resolve());
    });
    if (!gone.aborted) call.outcome = "running";
  }

  /** True while a `flaky-<n>` model still owes this message a failure. */
  #stillFails(message: string, failures: number): boolean {
    const before = this.#failures.get(message) ?? 0;
    this.#failures.set(message, before + 1);
    return before < failures;
  }

  async complete(request: ChatRequest, response: ServerResponse, dialect: Dialect, vendor: string, key?: string): Promise<void> {
    const call: ModelCall = {
      id: `${++this.#count}`,
      model: request.model,
      message: lastUserMessage(request),
      stream: request.stream === true,
      probe: isProbe(request),
      outcome: "running",
      key,
      request,
    };
    this.#calls.push(call);
    const gone = new AbortController();
    response.once("close", () => {
      if (call.outcome === "running" || call.outcome === "waiting") call.outcome = "aborted";
      gone.abort();
    });
    const refusal = dialect.refusal?.(request);
    const steps = this.#scripts.get(request.model.replace(/^script-/, ""));
    const answer = () => (steps ? stepFor(steps, request) : scriptFor(dialect.ignoresSchema ? withoutSchema(request) : request));
    const script: Script = refusal ? { kind: "status", ...refusal } : answer();
    await this.#play(script, { call, response, gone: gone.signal, dialect, vendor });
  }

  async #play(script: Script, line: Line): Promise<void> {
    const { call, response } = line;
    const refuse = (status: number, message?: string) => {
      call.outcome = "refused";
      sendError(response, status, message);
    };
    switch (script.kind) {
      case "status":
        return refuse(script.status, script.message);
      case "trouble":
        call.outcome = "refused";
        return sendAsIs(response, vendorError(line.vendor, script.trouble, call.model));
      case "flaky":
        if (this.#stillFails(call.message, script.failures)) return refuse(500);
        return this.#play({ kind: "answer", answer: { text: `Echo: ${call.message}` }, delayMs: 0 }, line);
      case "hang":
        return;
      case "garbage":
        call.outcome = "answered";
        response.writeHead(200, { "content-type": call.stream ? "text/event-stream" : "application/json" });
        response.end(call.stream ? "data: <html>this is not JSON\n\n" : "<html>this is not JSON</html>");
        return;
      case "drop":
        return this.#drop(line);
      case "answer":
        return this.#answer(script, line);
    }
  }

  async #drop({ call, response, dialect }: Line): Promise<void> {
    if (call.stream) {
      const writer = new ChunkWriter(response, call.id, call.request, dialect);
      for (const content of ["This ", "answer "]) writer.delta({ content });
    } else response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write('{"id":');
    await pause(20); // lets the first pieces leave before the line is cut
    call.outcome = "dropped";
    response.destroy();
  }

  async #answer(script: Extract<Script, { kind: "answer" }>, line: Line): Promise<void> {
    const { answer, delayMs, gate } = script;
    const { call, response, gone, dialect } = line;
    if (call.stream) await this.#stream(script, line);
    else {
      if (gate !== undefined) await this.#gate(gate, call, gone);
      else await pause(delayMs * piecesOf(answer).length);
      if (!gone.aborted) sendCompletion(response, call.id, call.request, answer, dialect);
    }
    if (!gone.aborted) call.outcome = "answered";
  }

  async #stream(script: Extract<Script, { kind: "answer" }>, { call, response, gone, dialect }: Line): Promise<void> {
    const { answer, delayMs, gate, gateAt = 2 } = script;
    const writer = new ChunkWriter(response, call.id, call.request, dialect);
    if (answer.text !== "" || !answer.toolCalls) {
      const pieces = script.isOnePiece ? [answer.text] : piecesOf(answer, script.pieceLength);
      for (const [index, content] of pieces.entries()) {
        if (gate !== undefined && index === gateAt) await this.#gate(gate, call, gone);
        else if (!script.isOnePiece) await pause(delayMs);
        if (gone.aborted) return;
        writer.delta({ content });
      }
    }
    if (answer.toolCalls) writer.toolCalls(answer.toolCalls);
    writer.end(call.request, answer);
  }
}

/** Words with the blanks before them, as a model's tokens come, or so many characters at a time. */
const piecesOf = (answer: Answer, length?: number): string[] =>
  answer.text.match(length ? new RegExp(`[\\s\\S]{1,${length}}`, "g") : /\s*\S+|\s+$/g) ?? [""];

function isAllowed({ headers }: IncomingMessage, response: ServerResponse, { isApiKeyHeader }: Dialect, vendor: string): boolean {
  const bearer = isApiKeyHeader ? undefined : headers.authorization?.replace(/^Bearer /, "");
  const key = bearer ?? String(headers["api-key"] ?? "");
  if (key && key !== WRONG_KEY) return true;
  if (key && vendor) {
    sendAsIs(response, vendorError(vendor, "wrong-key", ""));
    return false;
  }
  sendError(response, 401, key ? `Incorrect API key provided: ${key.slice(0, 4)}****${key.slice(-4)}.` : "You didn't provide an API key.");
  return false;
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function handle(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://model-server");
  const query = Object.fromEntries(url.searchParams) as CallFilter & { id?: string };
  const { dialect, name, rest } = dialectOf(url.pathname);
  const listing = request.method === "GET" && vendorListing(name, rest, url.searchParams, request.headers);
  if (listing) return sendAsIs(response, listing);
  // Azure names the deployment in the path; Google's endpoint of this format has a path of its own.
  const path = rest.replace(/\/$/, "").replace(/^\/openai\/deployments\/[^/]+|^\/v1beta\/openai|^\/openai\/v1/, "/v1");
  const route = `${request.method} ${path}`;
  if (route === "GET /_calls") {
    const calls = provider.calls(query);
    return sendJson(response, { count: calls.length, calls });
  }
  if (route === "POST /_release") return sendJson(response, provider.release(query.id ?? "") ?? {});
  if (route === "POST /_script")
    return sendJson(response, provider.script(query.id ?? "", (await readJson(request)) as ScriptStep[]) ?? {});
  if (route === "POST /_reset") return sendJson(response, provider.reset() ?? {});
  if (!isAllowed(request, response, dialect, name)) return;
  if (route === "GET /v1/models") {
    const data = LISTED_MODELS.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "treadle-tests" }));
    return sendJson(response, { object: "list", data });
  }
  if (route !== "POST /v1/chat/completions") return sendError(response, 404, `Unknown request URL: ${route}.`);
  const body = (await readJson(request).catch(() => null)) as ChatRequest | null;
  if (!body?.model || !Array.isArray(body.messages)) return sendError(response, 400, "you must provide a model parameter and messages");
  return provider.complete(body, response, dialect, name, request.headers["idempotency-key"]?.toString());
}

/** Starts the stand-in on `port` of the loopback interface; without one, on a port of the system's choice. */
export async function startModelServer({ port = 0 }: { port?: number } = {}): Promise<ModelServer> {
  const provider = new Provider();
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    handle(provider, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, 500, String(error));
    });
  });
  const listening = await listen(server, port);
  return {
    ...listening,
    url: `${listening.url}/v1`,
    calls: (filter) => provider.calls(filter),
    release: (id) => provider.release(id),
    script: (id, steps) => provider.script(id, steps),
    reset: () => provider.reset(),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "4010" } } });
  const server = await startModelServer({ port: Number(values.port) });
  process.stdout.write(`The model stand-in answers at ${server.url}\n`);
}
