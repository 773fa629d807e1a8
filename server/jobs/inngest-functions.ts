import { eventType, type Inngest } from "inngest";
import type { z } from "zod";
import { inngest } from "#server/events/inngest-client.ts";
import { sendEvents } from "#server/events/send-events.ts";
import { jobs } from "#server/jobs/definitions.ts";
import type { Job, Step } from "#server/jobs/job.ts";

type Client = Inngest;
type Handler = Parameters<Client["createFunction"]>[1];
/** Events hold objects: ids by their names. */
type ObjectSchema = z.ZodType<Record<string, unknown>, Record<string, unknown>>;
type InngestStep = Parameters<Handler>[0]["step"];

const named = (id: string, name?: string) => (name ? { id, name } : id);

/** Inngest's steps in the words of ours. What a step returns comes back as JSON, and every step of ours returns such. */
const stepOf = (step: InngestStep): Step => ({
  run: <Result>(id: string, work: () => Promise<Result> | Result, name?: string) => step.run(named(id, name), work) as Promise<Result>,
  sleep: (id, ms) => step.sleep(id, ms),
  sleepUntil: (id, at, name) => step.sleepUntil(named(id, name), at),
  waitForEvent: (id, { event, timeout, name }) =>
    step.waitForEvent(named(id, name), { event: event.name, timeout, ...(event.match && { match: `data.${event.match}` }) }),
  sendEvent: (id, events) => step.run(id, async () => void (await sendEvents(events))),
});

/** A job as a function of an Inngest server. */
export const functionOf = (client: Client, { id, name, trigger, retries, idempotency, concurrency, cancelOn, handler, onFailure }: Job) =>
  client.createFunction(
    {
      id,
      name,
      retries: retries as NonNullable<Parameters<Client["createFunction"]>[0]["retries"]>,
      triggers: ["event" in trigger ? eventType(trigger.event.name, { schema: trigger.event.schema as ObjectSchema }) : trigger],
      ...(idempotency && { idempotency }),
      ...(concurrency && { concurrency: [{ ...concurrency }] }),
      ...(cancelOn?.match && { cancelOn: [{ event: cancelOn.name, match: `data.${cancelOn.match}` }] }),
      ...(onFailure && { onFailure: ({ event, error }) => onFailure({ event: { data: event.data.event.data }, error }) }),
    },
    ({ event, step, runId }) => handler({ event, step: stepOf(step), inngest_run_id: runId }),
  );

/** Every function, made when settings are known. */
export const inngestFunctions = () => jobs.map((job) => functionOf(inngest(), job));
