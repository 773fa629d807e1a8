import type pg from "pg";
import { answersWithin, noteSilent } from "#server/platform/db/connections.ts";

/**
 * Time after which a lent connection is suspect, and time that the server then has to accept another one, in ms. With the time in which a
 * lost answer is looked for (server/runs/use-cases/inline-run.ts) a request is answered within 5 s.
 */
const SUSPECT_MS = 1000;
const PROBE_MS = 2000;
const CHECK_MS = 250;
/** Delay of a check, in ms, above which this process is too busy for a probe to say anything about the server. */
const MAX_LATE_MS = 300;

/** Ends connections of a pool when their server no longer answers, as one that is paused or behind a broken route: no error would come. */
export function watchPool(pool: pg.Pool): void {
  const { connectionString = "" } = pool.options;
  const lentAt = new Map<pg.PoolClient, number>();
  let answeredAt = 0;
  let isChecking = false;
  let tickedAt = 0;
  let wasBusy = false;

  const check = async () => {
    const before = performance.now() - SUSPECT_MS;
    const isSuspect = (since: number) => Math.max(since, answeredAt) < before;
    if (![...lentAt.values()].some(isSuspect)) return;

    // A process that was busy itself has not looked for the answer.
    if ((await answersWithin(connectionString, PROBE_MS)) || wasBusy) {
      answeredAt = performance.now();
      return;
    }
    noteSilent(connectionString);
    // cast: a lent connection is a client. With a statement in flight, `end` closes the socket, and the statement fails.
    for (const [client, since] of lentAt) if (isSuspect(since)) void (client as unknown as pg.Client).end().catch(() => undefined);
  };

  let timer: NodeJS.Timeout | undefined;
  pool.on("acquire", (client) => {
    lentAt.set(client, performance.now());
    if (timer) return;
    tickedAt = performance.now();
    timer = setInterval(() => {
      if (lentAt.size === 0) {
        clearInterval(timer);
        timer = undefined;
        return;
      }
      const now = performance.now();
      if (now - tickedAt > CHECK_MS + MAX_LATE_MS) wasBusy = true;
      tickedAt = now;
      if (isChecking) return;
      wasBusy = false;
      isChecking = true;
      check().finally(() => {
        isChecking = false;
      });
    }, CHECK_MS).unref();
  });
  pool.on("release", (_, client) => lentAt.delete(client));
  pool.on("remove", (client) => lentAt.delete(client));
}
