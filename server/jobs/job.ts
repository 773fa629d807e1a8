import type { EventType, JobEvent } from "#server/events/events.ts";

/**
 * Work of a handler, in the shape of an Inngest function's steps. Ids are unique within a handler, and the keys of a replay.
 * `name`: shown in the pages of an Inngest server; empty or left out, the id.
 */
export interface Step {
  /** Does work that may be done again: a handler starts from its top after a failure, a sleep, a wait or a dead process. */
  run<Result>(id: string, work: () => Promise<Result> | Result, name?: string): Promise<Result>;
  /** @param ms milliseconds */
  sleep(id: string, ms: number): Promise<void>;
  sleepUntil(id: string, at: Date, name?: string): Promise<void>;
  /**
   * Waits until an event whose `match` field is the same as in the handler's own event, for so many milliseconds at most.
   * The wait is kept before a step that is begun beside it runs.
   * @returns the event, or null when none came
   */
  waitForEvent<Data>(id: string, options: { event: EventType<Data>; timeout: number; name?: string }): Promise<{ name: string } | null>;
  sendEvent(id: string, events: readonly JobEvent[]): Promise<void>;
}

/**
 * A job in the background, in the shape of an Inngest function. Its handler can be run again from its beginning at any time,
 * by several processes at once: rows in PostgreSQL know what is done.
 */
export interface Job<Data = unknown> {
  id: string;
  /** For people. */
  name: string;
  /** An event, or times as five fields of cron in UTC. */
  trigger: { event: EventType<Data> } | { cron: string };
  /** How often a handler that fails is run again, at growing distances. */
  retries: number;
  /** For an Inngest server: what makes requests the same for a day, as an expression. */
  idempotency?: string;
  /** How many run at once, of all or of those with the same value of a field, over all processes. */
  concurrency?: { key?: `event.data.${string}`; limit: number };
  /** For an Inngest server: an event that ends a run of the function there, by its `match`. */
  cancelOn?: EventType;
  /** One that ends with Inngest's `NonRetriableError` is not tried again. `inngest_run_id`: of the function run, at an Inngest server. */
  handler(context: { event: { data: Data }; step: Step; inngest_run_id?: string }): Promise<unknown>;
  /** After the last try. An error of another process has its name and message only. */
  onFailure?(context: { event: { data: Data }; error: Error }): unknown;
}

/** Declares a job: only here the types of its event and its handler are compared. */
export const defineJob = <Data>(job: Job<Data>): Job => job;
