import { Bell } from "#server/bell.ts";
import { pool } from "#server/db/client.ts";
import { subscribe } from "#server/db/notify.ts";
import { follow } from "#server/follow.ts";
import { newId } from "#server/new-id.ts";
import { isFinal } from "#server/schemas/execution.ts";
import type { RunEnding } from "#server/services/executions/accept-run.ts";
import type { NewExecution } from "#server/services/executions/insert-execution.ts";
import { startHere } from "#server/services/executions/start-execution.ts";
import { onToldToStop } from "#server/services/http-trigger/told-to-stop.ts";
import { runIdOfRequest } from "#server/services/idempotency/run-id.ts";

/** How long to trust that every notification arrives, in milliseconds. */
const LOOK_AGAIN_MS = 5000;
/** A run that goes on for longer is looked at less often than its agents' pieces are notified, in milliseconds. */
const LONGEST_PAUSE_MS = 200;

/** How long it waits on when the process is told to stop, in milliseconds: the way down cuts what is open after eight seconds. */
const STOPPING_MS = 5000;

const READ = {
  name: "execution-ending",
  text: "SELECT e.status, e.error, v.output FROM executions e JOIN execution_values v ON v.execution_id = e.id WHERE e.id = $1",
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Starts a run and waits until it has ended or pauses at a review, at most `ms`; not while the executor that is to run it
 * is away, and not until a process that is told to stop cuts the caller off: whoever has no answer calls again, and there
 * would be two runs. Listens before it starts, so that a quick run costs one query more than not waiting.
 * @param signal ends the wait when the caller has gone; the run goes on
 * @throws AppError as `startExecution` does
 */
export async function startAndFollow(
  execution: NewExecution,
  ms: number,
  signal: AbortSignal,
): Promise<RunEnding & { execution_id: string }> {
  const execution_id = execution.id ?? runIdOfRequest() ?? newId();
  const given = new AbortController();
  const unfollow = follow(given, signal);
  const bell = new Bell(given.signal);
  /** Rings only when nobody waits any more. */
  const over = new Bell(given.signal);
  const stop = await subscribe("treadle_execution", execution_id, () => bell.ring());
  let timer: ReturnType<typeof setTimeout> | undefined;
  const leave = onToldToStop(() => (timer ??= setTimeout(() => given.abort(), STOPPING_MS)));
  try {
    const { status, ending, asked } = await startHere({ ...execution, id: execution_id });
    // A run that nobody is asked for now will not end while the caller waits.
    void asked?.then((isTaken) => isTaken || given.abort());
    const end = Date.now() + ms;
    if (ending) {
      // What this process runs itself it need not read, whatever else is told of the run meanwhile.
      const told = await Promise.race([ending, over.rung(ms)]);
      if (told) return { execution_id, ...told };
      bell.ring();
    }
    let seen: RunEnding = { status, output: null, error: null };
    for (let reads = 0; !signal.aborted; reads++) {
      const left = given.signal.aborted ? 0 : end - Date.now();
      if (reads > 1) await pause(Math.min(10 * reads, LONGEST_PAUSE_MS));
      await bell.rung(Math.min(LOOK_AGAIN_MS, Math.max(1, left)));
      const { rows } = await pool().query<RunEnding>({ ...READ, values: [execution_id] });
      seen = rows[0] ?? seen;
      if (left <= 0 || isFinal(seen.status) || seen.status === "paused") break;
    }
    return { execution_id, ...seen };
  } finally {
    for (const waited of [bell, over]) waited.ring(); // ends a wait that nobody waits for any more
    clearTimeout(timer);
    leave();
    unfollow();
    stop();
  }
}
