import type pg from "pg";
import { type Clock, millis, systemClock } from "#server/jobs/inngest/local/clock.ts";
import { executorHere } from "#server/jobs/inngest/local/here.ts";
import { eventId } from "#server/jobs/inngest/local/ids.ts";
import { type Incoming, ingest, type LocalEvent } from "#server/jobs/inngest/local/ingest.ts";
import { changesOf, opsOf } from "#server/jobs/inngest/local/ops.ts";
import { installJobSchema } from "#server/jobs/inngest/local/schema.ts";
import { apply } from "#server/jobs/inngest/local/store.ts";
import { pool as sharedPool } from "#server/platform/db/client.ts";
import { messageOf } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** PostgreSQL stores names and ids as text, which holds no NUL and no half of a pair. */
const isName = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\u0000");

const answer = (status: number, body: unknown): Response => Response.json(body, { status });

/** Events as they will be stored, or undefined when the body is not events. */
function read(body: unknown, seed: string | null, now: number): Incoming[] | undefined {
  const incoming: Incoming[] = [];
  for (const [index, item] of (Array.isArray(body) ? body : [body]).entries()) {
    if (!isRecord(item) || !isName(item.name)) return undefined;
    const named = item.id !== undefined && item.id !== null && item.id !== "";
    if (named && !isName(item.id)) return undefined;
    const event: LocalEvent = {
      ...item,
      name: item.name,
      data: item.data ?? {},
      id: named ? String(item.id) : eventId(seed, index, now),
      ts: typeof item.ts === "number" ? item.ts : now,
    };
    incoming.push({ event, named });
  }
  return incoming;
}

// A role that only sends events may be up before any executor has made the schema.
const NO_SCHEMA = new Set(["3F000", "42P01", "42883"]);

/** Stores events, making the schema first if nobody has. */
async function store(pool: pg.Pool, incoming: Incoming[], now: number, isHint: boolean): Promise<string[]> {
  const storing = { isHint, here: isHint ? executorHere(pool) : undefined };
  try {
    await ingest(pool, incoming, now, storing);
  } catch (error) {
    if (!(error instanceof Error) || !NO_SCHEMA.has(String(Reflect.get(error, "code")))) throw error;
    await installJobSchema(pool);
    await ingest(pool, incoming, now, storing);
  }
  return incoming.map((one) => one.event.id);
}

async function send(pool: pg.Pool, body: unknown, seed: string | null, now: number): Promise<Response> {
  const incoming = read(body, seed, now);
  if (!incoming) return answer(400, { status: 400, error: "Each event needs a name, and its id must be text.", ids: [] });
  return answer(200, { status: 200, ids: await store(pool, incoming, now, false) });
}

/**
 * Sends events that only tell what the database knows already, without the SDK, whose request made of text costs more than
 * storing them. A crash of the database may lose them; whoever looks after the rows sends them again.
 * @returns their ids
 * @throws Error for an event without a name; the database's error
 */
export async function sendHints(events: unknown, pool: pg.Pool = sharedPool()): Promise<string[]> {
  const now = millis(systemClock);
  const incoming = read(events, null, now);
  if (!incoming) throw new Error("Each event needs a name, and its id must be text.");
  return store(pool, incoming, now, true);
}

/** Steps that the SDK has run while the call that runs them goes on; qi_id is the lease that the executor gave it. */
async function checkpoint(pool: pg.Pool, run: string, body: unknown, now: number): Promise<Response> {
  const lease = /^(\d+)\.(\d+)$/.exec(isRecord(body) ? String(body.qi_id) : "");
  if (!lease || !isRecord(body)) return answer(400, { error: "The checkpoint names no lease.", status: 400 });
  const changes = changesOf(opsOf(body.steps), { event: () => undefined, now, attempt: 0, maxAttempts: 1, retryAfter: null, race: false });
  const written = await apply(pool, { run, owner: Number(lease[1]), epoch: Number(lease[2]) }, { mode: "keep", now, steps: changes.steps });
  if (written.status === "lost") return answer(409, { error: "The run has ended or is another worker's now.", status: 409 });
  return answer(200, {});
}

async function handle(
  pool: () => pg.Pool,
  clock: Clock,
  url: URL,
  method: string,
  headers: Headers,
  text: () => Promise<string>,
): Promise<Response> {
  const path = url.pathname;
  if (method === "POST" && path.startsWith("/e/"))
    return send(pool(), JSON.parse(await text()), headers.get("x-inngest-event-id-seed"), millis(clock));
  const run = method === "POST" ? /^\/v1\/checkpoint\/([^/]+)\/async$/.exec(path)?.[1] : undefined;
  if (run) return checkpoint(pool(), decodeURIComponent(run), JSON.parse(await text()), millis(clock));
  if (path === "/dev" || path === "/health") return answer(200, { version: "treadle-local", functions: [], handlers: [] });
  log.warn({ method, path }, "the embedded executor was asked for something that it does not do");
  return answer(404, { error: `The embedded executor does not answer ${method} ${path}.`, status: 404 });
}

/**
 * A `fetch` that answers in process what an Inngest server would: events and checkpoints. All state is in PostgreSQL,
 * so any number of copies may exist.
 * @param pool asked for at each call, because the database may be known only later
 */
export function createLocalFetch(pool: () => pg.Pool, clock: Clock = systemClock): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const request = input instanceof Request ? input : undefined;
    const method = init?.method ?? request?.method ?? "GET";
    const headers = new Headers(init?.headers ?? request?.headers);
    const body = init?.body ?? undefined;
    const text = async (): Promise<string> => (typeof body === "string" ? body : new Response(body ?? request?.body).text());
    try {
      return await handle(pool, clock, url, method, headers, text);
    } catch (error) {
      log.error({ err: error, method, path: url.pathname }, "the embedded executor could not answer");
      // The SDK repeats a request that fails so; events carry a seed, so nothing is stored twice.
      return answer(500, { status: 500, error: messageOf(error) });
    }
  };
}

/** For `new Inngest({ fetch: localFetch, baseUrl: "http://inngest.local", isDev: true, eventKey: "local" })`. */
export const localFetch: typeof fetch = createLocalFetch(sharedPool);
