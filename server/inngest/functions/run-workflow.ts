import { advance, type Outcome } from "#server/engine/advance.ts";
import { inngest } from "#server/inngest/client.ts";
import { engineServices } from "#server/inngest/engine-services.ts";
import { executionCancelled, executionRequested } from "#server/inngest/events.ts";
import { settings } from "#server/settings.ts";

/** Segments in one run of the function; then it continues as a new one, long before Inngest's 1,000 steps. */
const SEGMENTS = 100;

/**
 * Carries a workflow run. Control is here, data is in PostgreSQL: each step is one segment of the run, however many nodes
 * it runs, and a step that is repeated finds in the ledger what is done.
 */
export const runWorkflow = () =>
  inngest().createFunction(
    {
      id: "run-workflow",
      name: "Run a workflow",
      retries: 20,
      triggers: [executionRequested],
      idempotency: "event.data.execution_id + '-' + string(event.data.dispatch)",
      cancelOn: [{ event: executionCancelled, match: "data.execution_id" }],
      concurrency: [{ key: "event.data.project_id", limit: settings().PROJECT_CONCURRENCY }],
    },
    async ({ event, step }) => {
      const { execution_id, project_id, dispatch } = event.data;
      for (let n = 0; n < SEGMENTS; n++) {
        const outcome: Outcome = await step.run(`advance ${n}`, () =>
          advance(engineServices, execution_id, dispatch, settings().SEGMENT_SECONDS),
        );
        if (outcome.kind === "over") return;
        if (outcome.kind === "busy") await step.sleepUntil(`busy ${n}`, outcome.until);
      }
      await step.run("continue as new", () => engineServices.continueAsNew({ execution_id, project_id, dispatch: dispatch + 1 }));
    },
  );
