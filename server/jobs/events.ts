import { eventType } from "inngest";
import { z } from "zod";

// Payloads are ids: events are at most 256 KiB on small Inngest plans, and the data stays in PostgreSQL.

/** Asks for an execution to be carried on. `dispatch` counts up each time, and only the newest one acts. */
export const executionRequested = eventType("execution/requested", {
  schema: z.object({ execution_id: z.string(), project_id: z.string(), dispatch: z.number().int() }),
});

/** The execution's row says cancelled; ends the run that carries it. */
export const executionCancelled = eventType("execution/cancelled", { schema: z.object({ execution_id: z.string() }) });

/** Something that a waiting execution waits for has happened. Only a hint: PostgreSQL knows what. */
export const executionWake = eventType("execution/wake", { schema: z.object({ execution_id: z.string() }) });

/** A run has paused at a review: tell the people who can decide. */
export const reviewOpened = eventType("review/opened", { schema: z.object({ review_id: z.string() }) });

/** A document of a RAG source is to be indexed. `generation` counts up each time, and only the newest one acts. */
export const documentAdded = eventType("document/added", {
  schema: z.object({ document_id: z.string(), project_id: z.string(), generation: z.number().int() }),
});
