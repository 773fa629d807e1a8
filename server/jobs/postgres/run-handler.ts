import { type Payload, waitKey } from "#server/events/job-rows.ts";
import { sendEvents } from "#server/events/send-events.ts";
import type { Job, Step } from "#server/jobs/job.ts";
import { log } from "#server/platform/log.ts";

/** How a handler leaves a job for later. */
export interface Host {
  /** Nothing new is started here: the job goes on in another process, or after the next start. */
  isDraining(): boolean;
  /** Queues the job again. @param key under another name than its own, for one that waits for an event */
  leave(later: { at: Date; steps: Payload["steps"]; waiting?: string; key?: string }): Promise<void>;
}

/**
 * Runs a handler from its top. A step runs at once; one that sleeps or waits leaves the job for later, and this run of the
 * handler is over as soon as the steps beside it are. One sleep or wait at a time.
 * @returns when the handler has returned, or the job was left for later
 * @throws what the handler throws
 */
export function runHandler(job: Job, { data, steps: known, waiting }: Payload, host: Host): Promise<void> {
  const steps = { ...known };
  // What it has slept or waited in is over. Of a wait that ends before its time the event was the reason.
  if (waiting) steps[waiting] = Date.parse(String(steps[waiting])) > Date.now();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let busy = 0;
  let left: Promise<void> | undefined;

  const endIfIdle = () => {
    if (left && busy === 0) setImmediate(() => busy === 0 && left?.then(resolve, reject));
  };
  const leave = (later: Parameters<Host["leave"]>[0]): Promise<never> => {
    left ??= host.leave(later);
    endIfIdle();
    return new Promise(() => undefined);
  };
  const rest = (id: string, at: Date, key?: string): Promise<never> =>
    leave({ at, steps: { ...steps, [id]: at.toISOString() }, waiting: id, ...(key && { key }) });

  const step: Step = {
    async run(id, work) {
      if (host.isDraining()) return leave({ at: new Date(), steps });
      busy += 1;
      try {
        await left;
        return await work();
      } catch (error) {
        if (left) log.warn({ err: error, job: job.id, step: id }, "a step beside one that waits has failed");
        throw error;
      } finally {
        busy -= 1;
        endIfIdle();
      }
    },
    async sleep(id, ms) {
      if (!(id in steps)) await rest(id, new Date(Date.now() + ms));
    },
    async sleepUntil(id, at) {
      if (!(id in steps) && at.getTime() > Date.now()) await rest(id, at);
    },
    async waitForEvent(id, { event, timeout }) {
      if (id in steps) return steps[id] ? { name: event.name } : null;
      const value = event.match && data && typeof data === "object" ? Reflect.get(data, event.match) : undefined;
      return rest(id, new Date(Date.now() + timeout), waitKey(event.name, value));
    },
    sendEvent: (id, events) => step.run(id, async () => void (await sendEvents(events))),
  };
  job.handler({ event: { data }, step }).then(
    () => resolve(),
    (error) => (left ? left.then(resolve, reject) : reject(error)),
  );
  return promise;
}
