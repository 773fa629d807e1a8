import type { CallRefusal, EventRefusal, ExecutorContact, Refusal } from "#server/events/schema.ts";
import { pool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";

// What the processes of an install know of their Inngest server, in one row: events are sent by all of them, calls come to
// whichever stands behind the address, and each of them is asked how it stands.

/** How often each process writes the same again, in milliseconds. */
const EVERY_MS = 10_000;
/** After this time without a call something is wrong, in milliseconds: a server calls each minute, to fire schedules. */
const SILENCE_MS = 150_000;
const CLOCK_MS = 5 * 60_000;

/** The most that the clocks of this process and of the server may differ for wakes not to be lost, in ms. */
const MAX_OFFSET_MS = 2000;

const DETAILS: Record<Refusal | "no_call", string> = {
  no_server: "The Inngest server cannot be reached. Check INNGEST_BASE_URL, and that the server runs.",
  no_answer: "The Inngest server does not answer within 2 seconds. Check that it is well, and INNGEST_BASE_URL.",
  address: "No Inngest server at this address: another service answers at INNGEST_BASE_URL. Check the address.",
  event_key: "The Inngest server does not know the event key. Set INNGEST_EVENT_KEY to a key of that server.",
  error: "The Inngest server answers events with an error. Its log tells more.",
  unsigned:
    "A call without a signature was refused. The server must be started with the signing key: a dev server signs nothing, and needs INNGEST_DEV=1 here.",
  signing_key: "A call that was signed with another key was refused. Set INNGEST_SIGNING_KEY to the same key here and at the server.",
  clock: "A call that was signed more than five minutes off our time was refused. Set the clocks of both machines (NTP).",
  no_call:
    "The Inngest server does not call this service. It must know the address that ends in /api/inngest, and reach it: restart it with --sdk-url.",
};

const WRITE = {
  event: {
    taken: "INSERT INTO executor_contact (id, event_taken_at) VALUES (1, now()) ON CONFLICT (id) DO UPDATE SET event_taken_at = now()",
    refused:
      "INSERT INTO executor_contact (id, event_refused_at, event_refusal) VALUES (1, now(), $1) ON CONFLICT (id) DO UPDATE SET event_refused_at = now(), event_refusal = $1",
  },
  call: {
    taken: "INSERT INTO executor_contact (id, call_at) VALUES (1, now()) ON CONFLICT (id) DO UPDATE SET call_at = now()",
    refused:
      "INSERT INTO executor_contact (id, call_refused_at, call_refusal) VALUES (1, now(), $1) ON CONFLICT (id) DO UPDATE SET call_refused_at = now(), call_refusal = $1",
  },
};

type Side = keyof typeof WRITE;

/** What each side was last known to do, and when each thing was last written. */
const states = new Map<Side, Refusal | null>();
const written = new Map<string, number>();
/** What is being written, one after the other: two connections may overtake each other, and the later news counts. */
let writing: Promise<unknown> = Promise.resolve();

/** Keeps what has happened, now and then: never a reason for whoever it happened to, to wait or to fail. */
function note(side: Side, refusal: Refusal | null): void {
  const key = `${side} ${refusal}`;
  const isNews = states.get(side) !== refusal;
  const isDue = Date.now() - (written.get(key) ?? 0) >= EVERY_MS;
  // Anybody may send calls that are refused, so those are written at their pace only; what is news of events is our own doing.
  if (!isDue && !(isNews && side === "event")) return;
  states.set(side, refusal);
  written.set(key, Date.now());
  if (isNews && refusal) log.warn({ reason: refusal }, DETAILS[refusal]);
  const { taken, refused } = WRITE[side];
  const keep = async () => (refusal ? pool().query(refused, [refusal]) : pool().query(taken));
  writing = writing
    .then(keep)
    .catch((err: unknown) => log.debug({ err }, "the state of the connection to the Inngest server could not be kept"));
}

/** An event was taken, or was not for this reason. */
export const noteEvent = (refusal: EventRefusal | null): void => note("event", refusal);

/** @param signature the header of a call that was refused, which tells when it was signed */
function callRefusal(signature: string | null): CallRefusal {
  if (!signature) return "unsigned";
  const signed = Number(new URLSearchParams(signature).get("t")) * 1000;
  return Math.abs(Date.now() - signed) > CLOCK_MS ? "clock" : "signing_key";
}

/** Offset of this process's clock from the server's, in ms, as of a time. */
let clock: { offsetMs: number; at: number } | undefined;

/** True when a call of the last five minutes has shown that the server's clock differs by less than 2 s. */
export const isClockInSync = (): boolean =>
  clock !== undefined && Date.now() - clock.at < CLOCK_MS && Math.abs(clock.offsetMs) < MAX_OFFSET_MS;

/**
 * A call of `/api/inngest` was answered.
 * @param signature its header, which has the server's time in whole seconds
 * @param status of the answer
 * @param receivedAt when the call arrived, in ms
 */
export function noteCall(signature: string | null, status: number, receivedAt = Date.now()): void {
  note("call", status === 401 ? callRefusal(signature) : null);
  const signedAt = Number(new URLSearchParams(signature ?? "").get("t")) * 1000;
  if (status !== 401 && signedAt > 0) clock = { offsetMs: receivedAt - signedAt - 500, at: receivedAt };
}

interface Row {
  event_taken_at: Date | null;
  event_refused_at: Date | null;
  event_refusal: EventRefusal | null;
  call_at: Date | null;
  call_refused_at: Date | null;
  call_refusal: CallRefusal | null;
}

const READ =
  "SELECT event_taken_at, event_refused_at, event_refusal, call_at, call_refused_at, call_refusal FROM executor_contact WHERE id = 1";

const ms = (at: Date | null | undefined): number => at?.getTime() ?? 0;

/**
 * What is wrong with the connection, judged by what has happened since: a refusal counts until something was taken after it,
 * and one of a call, which any stranger can provoke, only while the server itself is not heard.
 */
export function problemOf(row: Row | undefined, now: number, startedAt: number): Refusal | "no_call" | null {
  if (row?.event_refusal && ms(row.event_refused_at) > ms(row.event_taken_at)) return row.event_refusal;
  const heardAt = ms(row?.call_at);
  if (heardAt > Math.max(startedAt, now - SILENCE_MS)) return null;
  if (row?.call_refusal && ms(row.call_refused_at) > heardAt) return row.call_refusal;
  return now - Math.max(startedAt, heardAt) > SILENCE_MS ? "no_call" : null;
}

/**
 * How it stands with whatever carries the runs.
 * @throws the database's error
 */
export async function executorContact(): Promise<ExecutorContact> {
  const nothing = { problem: null, event_taken_at: null, called_at: null, last_refusal: null };
  if (isEmbeddedExecutor()) return { kind: "embedded", ...nothing };
  const { rows } = await pool().query<Row>({ name: "executor-contact", text: READ });
  const [row] = rows;
  const problem = problemOf(row, Date.now(), performance.timeOrigin);
  const refusals = [
    { at: row?.event_refused_at, reason: row?.event_refusal },
    { at: row?.call_refused_at, reason: row?.call_refusal },
  ].sort((one, other) => ms(other.at) - ms(one.at));
  const [last] = refusals;
  return {
    kind: "inngest",
    problem: problem && DETAILS[problem],
    event_taken_at: row?.event_taken_at?.toISOString() ?? null,
    called_at: row?.call_at?.toISOString() ?? null,
    last_refusal: last?.at && last.reason ? { at: last.at.toISOString(), reason: last.reason, detail: DETAILS[last.reason] } : null,
  };
}
