import { z } from "zod";
import { eventType } from "#server/jobs/job.ts";

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

/** A document of a RAG source is to be indexed. `generation` counts up each time, and only the newest one acts. */
export const documentAdded = eventType(
  "document/added",
  z.object({ document_id: z.string(), project_id: z.string(), generation: z.number().int() }),
);
