import { router, viewerProcedure } from "#server/api/trpc.ts";
import { ExecutorContact } from "#server/schemas/executor-contact.ts";
import { Nothing } from "#server/schemas/primitives.ts";
import { executorContact } from "#server/services/executor/contact.ts";

// The web UI only; others ask /api/health/ready.
export const executorRouter = router({
  contact: viewerProcedure
    .input(Nothing)
    .output(ExecutorContact)
    .query(() => executorContact()),
});
