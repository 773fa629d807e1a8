import { NonRetriableError } from "inngest";
import type { z } from "zod";
import { executionCancelled, executionRequested, executionWake } from "#server/events/events.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { defineJob, type Step } from "#server/jobs/job.ts";
import { pool } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { executeRun, type Outcome } from "#server/runs/executor/execute-run.ts";
import { localWorker } from "#server/runs/local-worker.ts";
import type { Claim, RunState } from "#server/runs/ports.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { executionStatus } from "#server/runs/store/executions.ts";

/** Turns in one run of the handler, of four steps at most; then it continues as a new one, long before Inngest's 1,000 steps. */
const TURNS = 100;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** A wait is bounded: 15 minutes at first, an hour in the end. A wake may be lost, and then this is the net. */
const FIRST_WAIT_MS = 15 * MINUTE_MS;
const LONGEST_WAIT_MS = 60 * MINUTE_MS;

/** In milliseconds, as Inngest counts: whole seconds, and one at least, also of a step that an older version kept without them. */
const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds) || 1) * SECOND_MS;

/**
 * How long to wait for a decision, in milliseconds, computed from what the step returned so that a replay says the same. Not
 * a time of day: the server's clock may be another one, and ours may say that the deadline is still to come.
 */
function waitMs({ at, run_at }: Extract<Outcome, { kind: "waiting" }>, waits: number): number {
  const bound = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);
  const left = run_at ? Math.min(bound, Date.parse(run_at) - Date.parse(at)) : bound;
  return wholeSeconds(left / SECOND_MS);
}

/** Which run, and which request for it: a newer one takes its place. */
type RequestedRun = z.infer<typeof executionRequested.schema>;

/** Takes the lease of the run. */
type ClaimRun = (request: RequestedRun) => Promise<Claim>;
const claimRun: ClaimRun = ({ execution_id, dispatch }) => engineServices.store.claim(execution_id, dispatch);

/** With the state of a run that is over, for the pages of an Inngest server. */
type Carried = Outcome & { status?: ExecutionStatus };

async function carryOn(request: RequestedRun, claim: ClaimRun): Promise<Carried> {
  const claimed = await claim(request);
  if (claimed.kind === "busy") return claimed;
  const outcome = claimed.kind === "claimed" ? await executeRun(engineServices, claimed.run, settings().SEGMENT_SECONDS) : undefined;
  if (outcome && outcome.kind !== "over") return outcome;
  return { kind: "over", status: outcome?.ending?.status ?? (await executionStatus(request.execution_id)) };
}

/** A run has failed, and is not tried again. Nothing of what happened leaves the house with it. */
class ExecutionFailed extends NonRetriableError {
  constructor() {
    super("The execution failed. Its page in Treadle tells why.");
    this.stack = "";
  }
}

/**
 * Carries a run. Control is here, data is in PostgreSQL: each step carries the run for a time share, however many nodes that
 * runs, and a step that is repeated finds in the ledger what is done.
 * @param claim of a caller that holds the lease already
 * @returns how the run ended; nothing when another request goes on with it
 * @throws ExecutionFailed of a run that failed; all its steps are done
 */
export async function carryRun(
  { event, step }: { event: { data: RequestedRun }; step: Step },
  claim: ClaimRun = claimRun,
): Promise<{ status: ExecutionStatus } | undefined> {
  const { execution_id, project_id, dispatch } = event.data;
  let waits = 0;
  for (let n = 0; n < TURNS; n++) {
    const outcome = await step.run(`advance ${n}`, () => carryOn(event.data, claim));
    if (outcome.kind === "over") {
      if (outcome.status === "failed") throw new ExecutionFailed();
      return outcome.status && { status: outcome.status };
    }
    if (outcome.kind === "busy") await step.sleep(`busy ${n}`, wholeSeconds(outcome.seconds));
    // This process must start nothing more: the next request may come to another.
    if (outcome.kind === "yielded" && engineServices.drain?.aborted) break;
    if (outcome.kind !== "waiting") {
      waits = 0;
      continue;
    }
    // The wait is stored before the step beside it starts, so a decision made in between is not lost.
    const [wake] = await Promise.all([
      step.waitForEvent(`wake ${n}`, { event: executionWake, timeout: waitMs(outcome, waits) }),
      step.run(`look again ${n}`, () => engineServices.wakeIfEnded(execution_id)),
    ]);
    waits = wake ? 0 : waits + 1;
  }
  await step.run("continue as new", () => engineServices.continueAsNew({ execution_id, project_id, dispatch: dispatch + 1 }));
  return undefined;
}

/** Runs workflows. */
export const runWorkflow = defineJob({
  id: "run-workflow",
  name: "Run a workflow",
  trigger: { event: executionRequested },
  retries: 20,
  idempotency: "event.data.execution_id + '-' + string(event.data.dispatch)",
  cancelOn: executionCancelled,
  concurrency: {
    key: "event.data.project_id",
    get limit() {
      return settings().PROJECT_CONCURRENCY;
    },
  },
  handler: carryRun,
});

/** The run rests: its row says when somebody has to look at it next, and then the handler begins anew. */
class Rest extends Error {}
const rest = (): never => {
  throw new Rest();
};

/** The sweep looks this often for waits that are over, in milliseconds. For one that is over sooner, a timer of its own looks. */
const SOON_MS = 5000;

/**
 * Carries a run that is due in this process, which has its lease, for one time share: whatever comes after that is a turn of
 * its own, behind others that are due.
 */
export async function executeDue(request: { id: string; project_id: string }, state: () => Promise<RunState>): Promise<void> {
  let hasRun = false;
  const claim = async () => ({ kind: "claimed" as const, run: await state() });
  const step: Step = {
    run: async (_, work) => {
      if (hasRun) rest();
      hasRun = true;
      return work();
    },
    sleep: rest,
    sleepUntil: rest,
    async waitForEvent(_, { timeout }) {
      if (Number(timeout) <= SOON_MS) setTimeout(() => localWorker(pool())?.poke(), Number(timeout)).unref();
      return rest();
    },
    sendEvent: rest,
  };
  const { id: execution_id, project_id } = request;
  await carryRun({ event: { data: { execution_id, project_id, dispatch: 0 } }, step }, claim).catch((error: unknown) => {
    if (!(error instanceof Rest || error instanceof ExecutionFailed)) throw error;
  });
}
