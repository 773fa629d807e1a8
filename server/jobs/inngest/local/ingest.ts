import type pg from "pg";
import { eventKeys, holds, keyText, waitKey } from "#server/jobs/inngest/local/cel.ts";
import { dueAt } from "#server/jobs/inngest/local/clock.ts";
import type { ExecutorHere } from "#server/jobs/inngest/local/here.ts";
import { ulid } from "#server/jobs/inngest/local/ids.ts";
import { prepared, type Queryable, transaction } from "#server/jobs/inngest/local/query.ts";
import { type LocalFunction, type Registry, registry } from "#server/jobs/inngest/local/registry.ts";
import type { ClaimedRun } from "#server/jobs/inngest/local/store.ts";

const HOUR = 3_600_000;

/** An event as the SDK sends it, with an id and a time. */
export interface LocalEvent extends Record<string, unknown> {
  id: string;
  name: string;
  ts: number;
}

export interface Incoming {
  event: LocalEvent;
  /** Its sender chose the id, so it is remembered for 24 hours and not 1. */
  named: boolean;
}

/** A run to create; the names are those of the SQL function `ingest`. */
export interface RunPlan {
  id: string;
  fn: string;
  idem: string | undefined;
  due: number;
  s1: string | undefined;
  l1: number | undefined;
  s2: string | undefined;
  l2: number | undefined;
  cancels: { event: string; key: string; exact: boolean; expr: string | undefined; until: number | undefined }[] | undefined;
}

/** What a new run of a function looks like in the database. */
export function planRun(fn: LocalFunction, event: LocalEvent, now: number): RunPlan {
  const slots = fn.limits.map((limit) => ({
    name: limit.key ? `${limit.name}:${keyText(limit.key, event) ?? ""}` : limit.name,
    limit: limit.limit,
  }));
  const idem = fn.idempotency ? keyText(fn.idempotency, event) : undefined;
  return {
    id: ulid(now),
    fn: fn.id,
    idem: idem === undefined ? undefined : `${fn.id}:${idem}`,
    due: now,
    s1: slots[0]?.name,
    l1: slots[0]?.limit,
    s2: slots[1]?.name,
    l2: slots[1]?.limit,
    cancels: fn.cancels.length
      ? fn.cancels.map((cancel) => ({
          event: cancel.event,
          ...waitKey(cancel.if, event),
          expr: cancel.if,
          until: cancel.timeout === undefined ? undefined : dueAt(cancel.timeout, now),
        }))
      : undefined,
  };
}

function planEvent(known: Registry, { event, named }: Incoming, now: number) {
  const runs = (known.triggers.get(event.name) ?? [])
    .filter((trigger) => holds(trigger.if, { event }))
    .map((trigger) => planRun(trigger.fn, event, now));
  return {
    id: event.id,
    name: event.name,
    payload: JSON.stringify(event),
    ttl: named ? 24 * HOUR : HOUR,
    keys: eventKeys(event) ?? [""],
    ...(runs.length && { runs }),
  };
}

const INGEST = "SELECT * FROM treadle_jobs.ingest($1, $2, $3, $4, $5, $6, $7)";
type Answer = "ok" | "stale" | "slow";

/** How events are stored. */
interface Storing {
  /** They only tell what is on the disk elsewhere, so a crash of the database may lose them. */
  isHint: boolean;
  /** May take the run that follows. */
  here?: ExecutorHere | undefined;
}
const SURELY: Storing = { isHint: false };

async function call(
  on: Queryable,
  known: Registry,
  incoming: Incoming[],
  now: number,
  decided: number[] | null,
  { isHint, here }: Storing = SURELY,
): Promise<Answer> {
  const plan = incoming.map((one) => planEvent(known, one, now));
  const owner = here?.offer() ?? null;
  const values = [known.version, now, plan.map((one) => one.name), JSON.stringify(plan), decided, owner, isHint];
  try {
    const [row] = await prepared<{ answer: Answer; taken: string | null }>(on, "ingest", INGEST, values);
    if (owner !== null) here?.took(owner, takenRun(plan, row?.taken ?? null));
    return row?.answer ?? "stale";
  } catch (error) {
    if (owner !== null) here?.lost();
    throw error;
  }
}

/** A run that has just been stored, as its driver gets it. */
function takenRun(plan: ReturnType<typeof planEvent>[], id: string | null): ClaimedRun | null {
  for (const { payload, runs } of id === null ? [] : plan)
    for (const run of runs ?? [])
      if (run.id === id) return { id, fn_id: run.fn, event: payload, attempt: 0, crashes: 0, epoch: 1, discover: false, steps: null };
  return null;
}

interface LooseWait {
  id: string;
  expr: string | null;
  run_event: string;
}

/** Some waits for these events need their expression evaluated here: under the lock that keeps new waits out. */
async function slowly(client: pg.PoolClient, known: Registry, incoming: Incoming[], now: number): Promise<Answer> {
  const names = incoming.map((one) => one.event.name);
  await client.query(
    "SELECT pg_advisory_xact_lock_shared(7412, h) FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest($1::text[]) x ORDER BY 1) s",
    [names],
  );
  for (const one of incoming) {
    const keys = eventKeys(one.event);
    const { rows } = await client.query<LooseWait>(
      `SELECT w.id, w.expr, r.event AS run_event FROM treadle_jobs.waits w JOIN treadle_jobs.runs r ON r.id = w.run_id
        WHERE w.event = $1 AND ($2::text[] IS NULL OR (NOT w.exact AND w.key = ANY($2))) AND (w.until IS NULL OR w.until > $3)`,
      [one.event.name, keys ?? null, now],
    );
    const met = rows.filter((wait) => holds(wait.expr, { event: JSON.parse(wait.run_event), async: one.event }));
    const answer = await call(
      client,
      known,
      [one],
      now,
      met.map((wait) => Number(wait.id)),
    );
    if (answer !== "ok") return answer;
  }
  return "ok";
}

/**
 * Stores events with all that follows: runs of the functions they trigger, waits they meet, runs they cancel.
 * An event whose id is known already does nothing.
 * @param now milliseconds since 1970
 * @param storing left out, they are on the disk when this returns
 * @throws the database's error; then nothing was stored
 */
export async function ingest(pool: pg.Pool, incoming: Incoming[], now: number, storing = SURELY): Promise<void> {
  let known = await registry(pool);
  const large = incoming.some((one) => eventKeys(one.event) === undefined);
  for (let attempt = 1; attempt <= 10; attempt++) {
    let answer: Answer = large ? "slow" : await call(pool, known, incoming, now, null, storing);
    if (answer === "slow") {
      const current = known;
      // Answering "stale" half-way must undo what was stored before.
      answer = await transaction(pool, async (client) => {
        const inner = await slowly(client, current, incoming, now);
        if (inner !== "ok") throw new Stale();
        return inner;
      }).catch((error: unknown) => {
        if (error instanceof Stale) return "stale" as const;
        throw error;
      });
    }
    if (answer === "ok") return;
    known = await registry(pool, known.version);
  }
  throw new Error("The function registry changes faster than events can be stored.");
}

class Stale extends Error {}

/**
 * Stores events inside the caller's transaction, with a registry read in it.
 * @throws Error when the registry given is not the current one
 */
export async function ingestWithin(client: pg.PoolClient, known: Registry, incoming: Incoming[], now: number): Promise<void> {
  if ((await slowly(client, known, incoming, now)) !== "ok") throw new Stale("The function registry has changed.");
}

/**
 * Stores one event with exactly this run, whatever the triggers say, inside the caller's transaction.
 * @throws Error when the registry given is not the current one
 */
export async function storeRun(client: pg.PoolClient, known: Registry, event: LocalEvent, run: RunPlan, now: number): Promise<void> {
  const plan = [{ id: event.id, name: event.name, payload: JSON.stringify(event), ttl: HOUR, keys: [""], runs: [run] }];
  const values = [known.version, now, [event.name], JSON.stringify(plan), [], null, false];
  const rows = await prepared<{ answer: Answer }>(client, "ingest", INGEST, values);
  if (rows[0]?.answer !== "ok") throw new Stale("The function registry has changed.");
}

/** True for the error of `ingestWithin` that asks for a fresh registry. */
export const isStale = (error: unknown): boolean => error instanceof Stale;
