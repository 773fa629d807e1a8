import type pg from "pg";
import { newClient } from "#server/platform/db/connections.ts";
import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";

// PostgreSQL LISTEN/NOTIFY: the only way in which processes tell each other something. A notification carries an id; readers
// fetch the rest. Losing one is harmless: readers also look again by themselves (on reconnect, and at every heartbeat).

export type Channel = "treadle_execution" | "treadle_thread" | "treadle_control" | "treadle_due" | "treadle_reading" | "treadle_canvas";

type Handler = (payload: string) => void;

const LONGEST_PAUSE_MS = 5000;
const CONNECT_MS = 5000;
/** Of a channel that is listened to for the first time. */
const TRIES = 3;
/** How often the connection must show that it lives, in milliseconds: two of them and a new one are less than the 5 s in which a run ends that somebody cancels. */
const BEAT_MS = 2000;

/** What the connection in use listens to: only what somebody here wants to hear. */
let listened = new Set<Channel>();
const handlers = new Map<Channel, Map<string, Set<Handler>>>();
let client: pg.Client | undefined;
let connecting: Promise<void> | undefined;
let isClosed = false;

function dispatch(channel: string, payload: string): void {
  for (const handler of handlers.get(channel as Channel)?.get(payload) ?? []) handler(payload);
}

/** After a lost connection everybody looks again, since notifications may have been missed. */
function dispatchAll(): void {
  for (const byPayload of handlers.values()) for (const [payload, set] of byPayload) for (const handler of set) handler(payload);
}

/**
 * Ends a connection that no longer answers, such as one through a router that has forgotten it: nobody would say that it is
 * gone, and it would be silent for ever.
 */
function watch(watched: pg.Client): void {
  let isAsked = false;
  const timer = setInterval(() => {
    if (isAsked) {
      // After a long turn of this process the answer may lie there unread.
      setImmediate(() => {
        if (!isAsked) return;
        log.warn("the notification connection does not answer, another one takes its place");
        void watched.end().catch(() => undefined);
      });
    } else if ([...handlers.values()].some((byPayload) => byPayload.size > 0)) {
      isAsked = true;
      const answered = () => {
        isAsked = false;
      };
      asked = asked.then(() => watched.query("SELECT 1")).then(answered, () => undefined);
    }
  }, BEAT_MS).unref();
  watched.on("end", () => clearInterval(timer));
}

/** What the connection in use was asked last: `pg` takes one query after the other, and warns of a second one. */
let asked: Promise<unknown> = Promise.resolve();

/** Not waited for without end: nobody watches the connection before it is in use. */
function listenTo(channel: Channel, on: pg.Client): Promise<unknown> {
  const query = { text: `LISTEN ${channel}`, query_timeout: CONNECT_MS };
  const answered = asked.then(() => on.query(query));
  asked = answered.catch(() => undefined);
  return answered;
}

async function connect(): Promise<void> {
  const next = newClient({ connectionString: settings().DATABASE_URL, keepAlive: true, connectionTimeoutMillis: CONNECT_MS });
  next.on("notification", ({ channel, payload }) => dispatch(channel, payload ?? ""));
  next.on("end", () => {
    // Only the connection in use: one that never came to be is the business of whoever tried.
    if (client !== next) return;
    client = undefined;
    if (!isClosed && handlers.size) connecting = reconnect();
  });
  try {
    await next.connect();
    asked = Promise.resolve();
    listened = new Set(handlers.keys());
    for (const channel of listened) await listenTo(channel, next);
  } catch (error) {
    await next.end().catch(() => undefined);
    throw error;
  }
  client = next;
  watch(next);
}

/** Tries until it is back; there is one such loop at a time. */
async function reconnect(): Promise<void> {
  for (let pause = 250; !isClosed; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause).unref());
    try {
      await connect();
      return dispatchAll();
    } catch (error) {
      log.warn({ err: error }, "the notification connection is down, trying again");
    }
  }
}

/** Resolves when the connection is there, opening it if nobody does. */
async function connected(): Promise<void> {
  while (!client) {
    connecting ??= connect();
    try {
      await connecting;
    } finally {
      connecting = undefined;
    }
  }
}

async function listen(channel: Channel): Promise<void> {
  for (let tries = 1; ; tries++) {
    await connected();
    if (listened.has(channel)) return;
    try {
      if (client) await listenTo(channel, client);
      listened.add(channel);
      return;
    } catch (error) {
      if (tries === TRIES) throw error;
      // The connection has died, and another one takes its place.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/**
 * Calls `handler` whenever `payload` is notified on `channel`, and after every reconnection.
 * @returns how to stop; resolves when the listener is in place, so nothing after it is missed
 */
export async function subscribe(channel: Channel, payload: string, handler: Handler): Promise<() => void> {
  isClosed = false;
  const byPayload = handlers.get(channel) ?? new Map<string, Set<Handler>>();
  handlers.set(channel, byPayload);
  const set = byPayload.get(payload) ?? new Set<Handler>();
  byPayload.set(payload, set);
  set.add(handler);
  const stop = () => {
    set.delete(handler);
    if (set.size === 0) byPayload.delete(payload);
  };
  try {
    // Known by now to whoever puts a lost connection back.
    await listen(channel);
    return stop;
  } catch (error) {
    stop();
    throw error;
  }
}

/** Closes the connection. */
export async function closeNotifications(): Promise<void> {
  isClosed = true;
  await client?.end().catch(() => undefined);
}
