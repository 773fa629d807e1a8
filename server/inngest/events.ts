import { eventType } from "inngest";
import { z } from "zod";

// Payloads are ids: events are at most 256 KiB on small Inngest plans, and the data stays in PostgreSQL.

/** Asks for an execution to be carried on. `dispatch` counts up each time, and only the newest one acts. */
export const executionRequested = eventType("execution/requested", {
  schema: z.object({ execution_id: z.string(), project_id: z.string(), dispatch: z.number().int() }),
});

/** The execution's row says cancelled; ends the run that carries it. */
export const executionCancelled = eventType("execution/cancelled", { schema: z.object({ execution_id: z.string() }) });
