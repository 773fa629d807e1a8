import { noteEvent } from "#server/events/contact.ts";
import type { JobEvent } from "#server/events/events.ts";
import { inngest, NotTaken } from "#server/events/inngest-client.ts";
import { storeEvents } from "#server/events/job-rows.ts";
import { pool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";

/** How many events go in one request or statement, how many requests are under way at once, and how many callers may wait for one. */
const TOGETHER = 100;
const AT_ONCE = 4;
const MOST_WAITING = 10_000;

/** What one caller sends, no more than goes in one request, until it is known whether that was taken. */
interface Pending {
  events: readonly JobEvent[];
  settle(isTaken: boolean): void;
}

const waiting: Pending[] = [];
let underWay = 0;

/** What goes next in one request, and leaves the queue. */
function nextBatch(): Pending[] {
  let count = 0;
  const end = waiting.findIndex(({ events }) => {
    count += events.length;
    return count > TOGETHER;
  });
  return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
}

/** Sends while something waits. Where the server takes nothing, what waits behind is left to the sweeper too. */
async function work(): Promise<void> {
  while (waiting.length) {
    const batch = nextBatch();
    const isTaken = await sendNow(batch.flatMap(({ events }) => events));
    if (!isTaken) batch.push(...waiting.splice(0));
    for (const { settle } of batch) settle(isTaken);
  }
}

async function sendNow(events: readonly JobEvent[]): Promise<boolean> {
  try {
    if (isEmbeddedExecutor()) await storeEvents(pool(), events);
    else {
      await inngest().send([...events]);
      noteEvent(null);
    }
    return true;
  } catch (error) {
    if (error instanceof NotTaken) noteEvent(error.reason);
    else log.warn({ err: error }, "events could not be sent, the sweeper will ask again");
    return false;
  }
}

/**
 * Sends events to whoever carries jobs, with one try: what they tell is in the database, and the sweeper sends it again. Many callers
 * share a few requests, so that a server which hangs holds up no more than those.
 * @returns whether they were taken, in two seconds or soon after; never throws
 */
export async function sendEvents(events: readonly JobEvent[]): Promise<boolean> {
  const sent: (boolean | Promise<boolean>)[] = [];
  for (let from = 0; from < events.length; from += TOGETHER) {
    const part = events.slice(from, from + TOGETHER);
    sent.push(isEmbeddedExecutor() ? await sendNow(part) : queue(part));
  }
  return (await Promise.all(sent)).every(Boolean);
}

function queue(events: readonly JobEvent[]): Promise<boolean> {
  if (waiting.length >= MOST_WAITING) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  waiting.push({ events, settle: resolve });
  if (underWay < AT_ONCE) {
    underWay += 1;
    void work().finally(() => {
      underWay -= 1;
    });
  }
  return promise;
}

/**
 * Sends events off the caller's way. Only our own tables are waited for, which have them in one statement; how an Inngest
 * server fares is nobody's wait, least of all that of a request whose rows are written.
 */
export async function publishEvents(events: readonly JobEvent[]): Promise<void> {
  const sent = sendEvents(events);
  if (isEmbeddedExecutor()) await sent;
}
