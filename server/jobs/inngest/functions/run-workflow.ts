import { eventType } from "inngest";
import { executionCancelled, executionRequested, executionWake } from "#server/jobs/events.ts";
import { inngest } from "#server/jobs/inngest/client.ts";
import { engineServices } from "#server/jobs/inngest/engine-services.ts";
import { ExecutionFailed } from "#server/jobs/inngest/execution-failed.ts";
import { type RunSteps, runWorkflow } from "#server/jobs/inngest/run-workflow.ts";
import { settings } from "#server/platform/settings.ts";

/**
 * The handler that carries runs, as an Inngest server calls it.
 * @throws ExecutionFailed of a run that failed; all its steps are done, and none is made again
 */
export const runWorkflowFunction = () =>
  inngest().createFunction(
    {
      id: "run-workflow",
      name: "Run a workflow",
      retries: 20,
      triggers: [eventType(executionRequested.name, { schema: executionRequested.schema })],
      idempotency: "event.data.execution_id + '-' + string(event.data.dispatch)",
      cancelOn: [{ event: executionCancelled.name, match: "data.execution_id" }],
      concurrency: [{ key: "event.data.project_id", limit: settings().PROJECT_CONCURRENCY }],
    },
    async ({ event, step }) => {
      const steps: RunSteps = {
        run: <Result>(id: string, work: () => Promise<Result>) => step.run(id, work) as Promise<Result>, // cast: results of ours are JSON
        sleep: (id, ms) => step.sleep(id, ms),
        waitForWake: (id, ms) => step.waitForEvent(id, { event: executionWake.name, match: "data.execution_id", timeout: ms }),
      };
      const claim = ({ execution_id, dispatch }: { execution_id: string; dispatch: number }) =>
        engineServices.store.claim(execution_id, dispatch);
      const end = await runWorkflow({ event, step: steps }, claim);
      if (end?.status === "failed") throw new ExecutionFailed();
      return end;
    },
  );
