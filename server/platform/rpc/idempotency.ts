import { AsyncLocalStorage } from "node:async_hooks";
import { createHash, randomUUID } from "node:crypto";
import { v7 as uuid } from "uuid";
import type { IdempotencyKey } from "#prisma/generated/client.ts";
import { pool } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { seal, unseal } from "#server/platform/secrets.ts";

/** A request that names itself by an Idempotency-Key. The same key of another user, project or operation is another one. */
export interface KeyedRequest {
  user_id: string;
  /** Null for operations outside projects. */
  project_id: string | null;
  /** Method and path template, e.g. `POST /agents`. */
  operation: string;
  key: string;
  /** Keyed hash of what was asked: the path and the body. */
  request_hash: string;
}

/** What a caller was told. */
export interface Answer {
  status: number;
  /** As it was sent; "" for none. */
  body: string;
  /** Path of the operation that gives the body again; the body is not stored then. */
  resource?: string | undefined;
}

/** The right to carry a request out, held by one try at a time. */
export interface Held {
  id: string;
  held_by: string;
  /** For the run that the request starts: a try after a dead one finds the run that this one started. */
  run_id: string;
}

/** How a key stands: free and now held by this try, answered before, held by another try, or used for another request. */
type Claim = { kind: "held"; held: Held } | { kind: "answered"; answer: Answer } | { kind: "under_way" } | { kind: "other_request" };

/** A try that does not renew its hold for so long has died, in seconds. */
export const HOLD_SECONDS = 30;

/**
 * Takes the key when it is new, has run out, was given back (nobody holds it then), or was held by a try that died. A dead try
 * may have done its work, so only the same request follows it; and only the same request goes on with its run.
 */
const TAKE = {
  name: "idempotency-take",
  text: `
    INSERT INTO idempotency_keys AS k (id, project_id, user_id, request_hash, run_id, held_by, held_until, expires_at)
    VALUES ($1, $2::uuid, $3::uuid, $4, $5::uuid, $6, now() + interval '${HOLD_SECONDS} seconds', now() + interval '24 hours')
    ON CONFLICT (id) DO UPDATE SET
      request_hash = excluded.request_hash, held_by = excluded.held_by, held_until = excluded.held_until, status = NULL, response = NULL, resource = NULL,
      run_id = CASE WHEN k.expires_at <= now() OR k.request_hash <> excluded.request_hash THEN excluded.run_id ELSE k.run_id END,
      created_at = CASE WHEN k.expires_at <= now() THEN excluded.created_at ELSE k.created_at END,
      expires_at = CASE WHEN k.expires_at <= now() THEN excluded.expires_at ELSE k.expires_at END
    WHERE k.expires_at <= now() OR (k.status IS NULL AND k.held_until <= now() AND (k.held_by IS NULL OR k.request_hash = excluded.request_hash))
    RETURNING k.run_id`,
};
const READ = {
  name: "idempotency-read",
  text: "SELECT request_hash, status, response, resource, held_by FROM idempotency_keys WHERE id = $1",
};
type Row = Pick<IdempotencyKey, "request_hash" | "status" | "response" | "resource" | "held_by">;

const isGone = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "23503";

async function take({ project_id, user_id, request_hash }: KeyedRequest, { id, held_by }: Omit<Held, "run_id">): Promise<Held | undefined> {
  try {
    const values = [id, project_id, user_id, request_hash, uuid(), held_by];
    const { rows } = await pool().query<{ run_id: string }>({ ...TAKE, values });
    return rows[0] && { id, held_by, run_id: rows[0].run_id };
  } catch (error) {
    if (isGone(error)) throw notFound("project");
    throw error;
  }
}

/**
 * Asks for the right to carry a request out. Of many that ask at once, one gets it.
 * @throws AppError NOT_FOUND when the project was deleted a moment ago
 */
export async function claimKey(request: KeyedRequest): Promise<Claim> {
  const { user_id, project_id, operation, key, request_hash } = request;
  const id = createHash("sha256")
    .update(JSON.stringify([project_id, user_id, operation, key]))
    .digest("base64url");
  const mine = { id, held_by: randomUUID() };
  for (;;) {
    const held = await take(request, mine);
    if (held) return { kind: "held", held };
    const { rows } = await pool().query<Row>({ ...READ, values: [id] });
    const [row] = rows;
    // Gone, or given back because the try before failed, between the two statements.
    if (!row || (row.status === null && row.held_by === null)) continue;
    if (row.request_hash !== request_hash) return { kind: "other_request" };
    if (row.status === null) return { kind: "under_way" };
    if (row.resource !== null) return { kind: "answered", answer: { status: row.status, body: "", resource: row.resource } };
    return { kind: "answered", answer: { status: row.status, body: unseal(row.response ?? "") } };
  }
}

const KEEP = {
  name: "idempotency-keep",
  text: "UPDATE idempotency_keys SET status = $3, response = $4, resource = $5, held_by = NULL, held_until = NULL WHERE id = $1 AND held_by = $2",
};
const FREE = {
  name: "idempotency-free",
  text: "UPDATE idempotency_keys SET held_by = NULL, held_until = now() WHERE id = $1 AND held_by = $2",
};
const RENEW = {
  name: "idempotency-renew",
  text: `UPDATE idempotency_keys SET held_until = now() + interval '${HOLD_SECONDS} seconds' WHERE id = $1 AND held_by = $2`,
};

/** Keeps the answer for repetitions of the request. A body is always sealed, since it may hold a new key or secret. */
export async function keepAnswer({ id, held_by }: Held, { status, body, resource }: Answer): Promise<void> {
  const response = resource === undefined ? seal(body) : null;
  await pool().query({ ...KEEP, values: [id, held_by, status, response, resource ?? null] });
}

/** Gives the key back, so that the request may be tried again: it finds the run that this try may have started after all. */
export async function freeKey({ id, held_by }: Held): Promise<void> {
  await pool().query({ ...FREE, values: [id, held_by] });
}

/** Says that the try is still at work. */
export async function renewHold({ id, held_by }: Held): Promise<void> {
  await pool().query({ ...RENEW, values: [id, held_by] });
}

const current = new AsyncLocalStorage<string>();

/** The id that a run gets which the request under way starts, when the request has an Idempotency-Key: the same for every try of it. */
export const runIdOfRequest = (): string | undefined => current.getStore();

/** Does `work` with this id for the run that it starts. */
export const withRunId = <Result>(run_id: string, work: () => Promise<Result>): Promise<Result> => current.run(run_id, work);

/** Trying again may end otherwise after these: who asks, how much was asked, or the service itself was the reason. */
const isKept = ({ status }: Answer): boolean => status < 500 && status !== 401 && status !== 403 && status !== 429;

const unsettled = (err: unknown) => log.warn({ err }, "an Idempotency-Key was not settled, it is free again in half a minute");

/**
 * Carries a request out once for its key, within 24 hours: whoever repeats it gets the same answer. A try that fails by
 * the service's fault, or dies, leaves the key to the next one.
 * @throws AppError CONFLICT when the key was used for another request, or the first one is still under way
 */
export async function answerOnce(request: KeyedRequest, work: () => Promise<Answer>): Promise<Answer & { isReplayed: boolean }> {
  const claim = await claimKey(request);
  if (claim.kind === "answered") return { ...claim.answer, isReplayed: true };
  if (claim.kind === "other_request")
    throw new AppError("CONFLICT", "This Idempotency-Key was used for another request. Send a new key with each new request.");
  if (claim.kind === "under_way")
    throw new AppError("CONFLICT", "A request with this Idempotency-Key is under way. Send it again in a second for its answer.", {
      retryAfter: 1,
    });
  const { held } = claim;
  const renewing = setInterval(() => void renewHold(held).catch(unsettled), (HOLD_SECONDS * 1000) / 3);
  try {
    const answer = await withRunId(held.run_id, work);
    await (isKept(answer) ? keepAnswer(held, answer) : freeKey(held)).catch(unsettled);
    return { ...answer, isReplayed: false };
  } catch (error) {
    await freeKey(held).catch(unsettled);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

/**
 * Lets go of every key that a request held. Only for the process that has the database alone, before it answers anybody:
 * whoever held them is dead, and those who ask again would be sent away until the holds run out.
 */
export async function freeHolds(): Promise<void> {
  await pool().query("UPDATE idempotency_keys SET held_until = now() WHERE status IS NULL AND held_until > now()");
}

/** Removes Idempotency-Keys that are no longer remembered. */
export async function tidyKeys(): Promise<void> {
  await pool().query("DELETE FROM idempotency_keys WHERE expires_at <= now()");
}
