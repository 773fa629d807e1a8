import { eventType } from "inngest";
import { executionCancelled, executionRequested, executionWake } from "#server/jobs/events.ts";
import { inngest } from "#server/jobs/inngest/client.ts";
import { engineServices } from "#server/jobs/inngest/engine-services.ts";
import { ExecutionFailed } from "#server/jobs/inngest/execution-failed.ts";
import type { FirstStep } from "#server/jobs/inngest/local/drive.ts";
import { runPlaces } from "#server/jobs/inngest/run-places.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";
import { advance, type Outcome } from "#server/runs/executor/advance.ts";
import type { ExecutionStatus } from "#server/runs/schema.ts";
import { executionStatus } from "#server/runs/use-cases/execution-status.ts";

/** Segments in one run of the function; then it continues as a new one, long before Inngest's 1,000 steps. */
const SEGMENTS = 100;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** A wait for people is bounded: 15 minutes at first, an hour in the end. A wake may be lost, and then this is the net. */
const FIRST_WAIT_MS = 15 * MINUTE_MS;
const LONGEST_WAIT_MS = 60 * MINUTE_MS;

/** In milliseconds, as Inngest counts: whole seconds, and one at least, also of a step that an older version kept without them. */
const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds) || 1) * SECOND_MS;

/**
 * How long to wait for what the run waits for, in milliseconds, computed from what the step returned so that a replay says the same. Not
 * a time of day: the executor's clock may be another one, and ours may say that the deadline is still to come.
 */
function waitMs({ at, wake_at }: Extract<Outcome, { kind: "waiting" }>, waits: number): number {
  const bound = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);
  const left = wake_at ? Math.min(bound, Date.parse(wake_at) - Date.parse(at)) : bound;
  return wholeSeconds(left / SECOND_MS);
}

/** An Inngest server goes on in the request that it has made; what this process must not start is for the next request. */
const isHandingOver = (): boolean => !isEmbeddedExecutor() && engineServices.drain?.aborted === true;

const FIRST_STEP = "advance 0";

interface Requested {
  execution_id: string;
  project_id: string;
  dispatch: number;
}

/** With the state of a run that is over, for the pages of an Inngest server. */
type Carried = Outcome & { status?: ExecutionStatus };

async function carryOn({ execution_id, project_id, dispatch }: Requested): Promise<Carried> {
  const go = () => advance(engineServices, execution_id, dispatch, settings().SEGMENT_SECONDS);
  if (!isEmbeddedExecutor()) {
    // The server keeps the limits itself.
    const outcome = await go();
    return outcome.kind === "over" ? { ...outcome, status: await executionStatus(execution_id) } : outcome;
  }
  const leave = await runPlaces().enter(project_id, engineServices.drain);
  try {
    return await go();
  } finally {
    leave();
  }
}

/**
 * How the function ends when the run is over: as the run did.
 * @throws ExecutionFailed of a run that failed; all its steps are done, and none is made again
 */
function endOf(status: ExecutionStatus | undefined): { status: ExecutionStatus } | undefined {
  if (status === "failed") throw new ExecutionFailed();
  return status && { status };
}

/** How `run-workflow` begins, and mostly ends: for the embedded executor, which then need not call it. */
export const firstSegment: FirstStep = {
  name: FIRST_STEP,
  async run(data) {
    const result = await carryOn(executionRequested.schema.parse(data));
    return { result, isEnd: result.kind === "over" };
  },
};

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
      triggers: [eventType(executionRequested.name, { schema: executionRequested.schema })],
      idempotency: "event.data.execution_id + '-' + string(event.data.dispatch)",
      cancelOn: [{ event: executionCancelled.name, match: "data.execution_id" }],
      concurrency: [{ key: "event.data.project_id", limit: settings().PROJECT_CONCURRENCY }],
    },
    async ({ event, step }) => {
      const { execution_id, project_id, dispatch } = event.data;
      let waits = 0;
      for (let n = 0; n < SEGMENTS; n++) {
        const outcome: Carried = await step.run(n === 0 ? FIRST_STEP : `advance ${n}`, () =>
          carryOn({ execution_id, project_id, dispatch }),
        );
        if (outcome.kind === "over") return endOf(outcome.status);
        if (outcome.kind === "busy") await step.sleep(`busy ${n}`, wholeSeconds(outcome.seconds));
        if (outcome.kind === "yielded" && isHandingOver()) break;
        if (outcome.kind !== "waiting") {
          waits = 0;
          continue;
        }
        // The wait is stored before the step beside it starts, so a decision made in between is not lost.
        const [wake] = await Promise.all([
          step.waitForEvent(`wake ${n}`, { event: executionWake.name, match: "data.execution_id", timeout: waitMs(outcome, waits) }),
          step.run(`look again ${n}`, () => engineServices.wakeIfEnded(execution_id)),
        ]);
        waits = wake ? 0 : waits + 1;
      }
      await step.run("continue as new", () => engineServices.continueAsNew({ execution_id, project_id, dispatch: dispatch + 1 }));
    },
  );
