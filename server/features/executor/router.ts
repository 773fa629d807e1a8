import { executorContact } from "#server/jobs/contact.ts";
import { ExecutorContact } from "#server/jobs/schema.ts";
import { router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { Nothing } from "#server/shared/primitives-schema.ts";

// The web UI only; others ask /api/health/ready.
export const executorRouter = router({
  contact: viewerProcedure
    .input(Nothing)
    .output(ExecutorContact)
    .query(() => executorContact()),
});
