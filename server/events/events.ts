import { z } from "zod";

/** Something that has happened, as it is sent: ids only, the data stays in PostgreSQL. */
export interface JobEvent<Data = unknown> {
  name: string;
  /** The same id again counts once. */
  id: string;
  data: Data;
  /** Starts nothing: wakes the jobs that wait for such an event with this value. */
  wakes?: unknown;
}

/** A kind of event. */
export interface EventType<Data = unknown> {
  name: string;
  schema: z.ZodType<Data, Data>;
  /** Of an event that starts nothing but wakes jobs which wait for it: the field that says which ones. */
  match: string | undefined;
  create(data: Data, options: { id: string }): JobEvent<Data>;
}

/**
 * Declares a kind of event.
 * @param options.match makes it one that jobs wait for, by this field of their own event and of this one
 */
export function eventType<Data>(
  name: string,
  schema: z.ZodType<Data, Data>,
  { match }: { match?: keyof Data & string } = {},
): EventType<Data> {
  return { name, schema, match, create: (data, { id }) => ({ name, id, data, ...(match && { wakes: data[match] }) }) };
}

// Payloads are ids: events are at most 256 KiB on small Inngest plans, and the data stays in PostgreSQL.

/** Asks for an execution to be carried on. `dispatch` counts up each time, and only the newest one acts. */
export const executionRequested = eventType(
  "execution/requested",
  z.object({ execution_id: z.string(), project_id: z.string(), dispatch: z.number().int() }),
);

/** The execution's row says cancelled; ends the run that carries it. */
export const executionCancelled = eventType("execution/cancelled", z.object({ execution_id: z.string() }), { match: "execution_id" });

/** Something that a waiting execution waits for has happened. Only a hint: PostgreSQL knows what. */
export const executionWake = eventType("execution/wake", z.object({ execution_id: z.string() }), { match: "execution_id" });

/** A run has paused at a review: tell the people who can decide. */
export const reviewOpened = eventType("review/opened", z.object({ review_id: z.string() }));

/** Nobody has decided a review for a while: tell the people who can again, for the `count`th time. */
export const reviewOverlooked = eventType("review/overlooked", z.object({ review_id: z.string(), count: z.number().int() }));

/** Somebody has written to the assistant, or answered it: go on with this thread. */
export const assistantAsked = eventType("assistant/asked", z.object({ thread_id: z.string(), project_id: z.string() }));

/** Something is to be done with many runs. */
export const bulkAsked = eventType("bulk/asked", z.object({ bulk_id: z.string(), project_id: z.string() }));

/** A document of a RAG source is to be indexed. `generation` counts up each time, and only the newest one acts. */
export const documentAdded = eventType(
  "document/added",
  z.object({ document_id: z.string(), project_id: z.string(), generation: z.number().int() }),
);
