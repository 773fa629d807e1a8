import { NonRetriableError } from "inngest";
import type { z } from "zod";
import { isClockInSync } from "#server/events/contact.ts";
import { executionCancelled, executionRequested, executionWake } from "#server/events/events.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { defineJob, type Step } from "#server/jobs/job.ts";
import { pool } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { claimAndExecute, type Outcome } from "#server/runs/executor/execute-run.ts";
import { localWorker } from "#server/runs/local-worker.ts";
import type { Claim } from "#server/runs/ports.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { executionStatus } from "#server/runs/store/executions.ts";

/** Turns in one run of the handler, of four steps at most; then it continues as a new one, long before Inngest's 1,000 steps. */
const TURNS = 100;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/**
 * Bounds of a wait, in ms, for the case that its wake is lost. A wake was lost where the clocks of this process and of the server
 * differed by 2 s; where they agree the bound grows further, since each end of a wait costs a call.
 */
const FIRST_WAIT_MS = 15 * MINUTE_MS;
const MAX_WAIT_MS = 60 * MINUTE_MS;
const MAX_WAIT_IN_SYNC_MS = 24 * 60 * MINUTE_MS;

/** In milliseconds, as Inngest counts: whole seconds, and one at least, also of a step that an older version kept without them. */
const wholeSeconds = (seconds: number): number => Math.max(1, Math.ceil(seconds) || 1) * SECOND_MS;

/**
 * How long to wait for a decision, in milliseconds, computed from what the step returned so that a replay says the same. Not
 * a time of day: the server's clock may be another one, and ours may say that the deadline is still to come.
 */
function waitMs({ at, run_at, in_sync }: Waiting, waits: number): number {
  const bound = Math.min(in_sync ? MAX_WAIT_IN_SYNC_MS : MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);
  const left = run_at ? Math.min(bound, Date.parse(run_at) - Date.parse(at)) : bound;
  return wholeSeconds(left / SECOND_MS);
}

/** Which run, and which request for it: a newer one takes its place. */
type RequestedRun = z.infer<typeof executionRequested.schema>;

/** Takes the lease of the run. */
type ClaimRun = (request: RequestedRun, inngest_run_id?: string) => Promise<Claim>;
const claimRun: ClaimRun = ({ execution_id, dispatch }, inngest_run_id) =>
  engineServices.store.claim(execution_id, dispatch, inngest_run_id);

/** Result of a step that only waits now. `in_sync`: the clocks agree. `labels`: only with INNGEST_STEP_LABELS, since they are user data. */
type Waiting = Omit<Extract<Outcome, { kind: "waiting" }>, "is_time" | "labels"> & {
  in_sync?: boolean;
  is_time?: boolean;
  labels?: string[];
};

/** Result of a step, as an Inngest server keeps it; of a run that is over with its status. */
type Carried = (Exclude<Outcome, { kind: "waiting" }> | Waiting) & { status?: ExecutionStatus };

async function carryOn({ execution_id }: RequestedRun, claim: () => Promise<Claim>): Promise<Carried> {
  const outcome = await claimAndExecute(engineServices, execution_id, settings().SEGMENT_SECONDS, claim);
  if (outcome.kind === "waiting") {
    const { labels, ...waiting } = outcome;
    return { ...waiting, in_sync: isClockInSync(), ...(settings().INNGEST_STEP_LABELS && { labels }) };
  }
  if (outcome.kind !== "over") return outcome;
  return { kind: "over", status: outcome.ending?.status ?? (await executionStatus(execution_id)) };
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
  { event, step, inngest_run_id }: { event: { data: RequestedRun }; step: Step; inngest_run_id?: string },
  claim: ClaimRun = claimRun,
): Promise<{ status: ExecutionStatus } | undefined> {
  const { execution_id, project_id, dispatch } = event.data;
  const take = () => claim(event.data, inngest_run_id);
  let waits = 0;
  let sleptUntil: string | null = null;
  let labels = "";
  for (let n = 0; n < TURNS; n++) {
    // The id of a step is its key in a replay; the name is only displayed.
    const outcome: Carried = await step.run(`advance ${n}`, () => carryOn(event.data, take), labels && `advance ${n} after ${labels}`);
    labels = "";
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
    labels = outcome.labels?.join(", ") ?? "";
    // Only a cancellation ends such a wait early, and it ends the function. A time that had not come after the sleep is waited for in
    // relation to this process's clock: the server's clock is ahead.
    if (outcome.is_time && outcome.run_at && outcome.run_at !== sleptUntil) {
      sleptUntil = outcome.run_at;
      await step.sleepUntil(`sleep ${n}`, new Date(outcome.run_at), labels && `sleep ${n}: ${labels}`);
      continue;
    }
    // The wait is stored before the step beside it starts, so a decision made in between is not lost.
    const [wake] = await Promise.all([
      step.waitForEvent(`wake ${n}`, { event: executionWake, timeout: waitMs(outcome, waits), name: labels && `wake ${n}: ${labels}` }),
      step.run(`look again ${n}`, () => engineServices.wakeIfEnded(execution_id, `${dispatch}-${n}`)),
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

/** Interval of the sweep for due runs, in ms. A run that is due sooner has a timer of its own. */
const SOON_MS = 5000;

function restFor(ms: number): never {
  if (ms <= SOON_MS) setTimeout(() => localWorker(pool())?.poke(), ms).unref();
  return rest();
}

/**
 * Carries a run that is due in this process, which has its lease, for one time share: whatever comes after that is a turn of
 * its own, behind others that are due.
 */
export async function executeDue(request: { id: string; project_id: string }, claim: () => Promise<Claim>): Promise<void> {
  let hasRun = false;
  const step: Step = {
    run: async (_, work) => {
      if (hasRun) rest();
      hasRun = true;
      return work();
    },
    sleep: async (_, ms) => restFor(ms),
    sleepUntil: async (_, at) => restFor(at.getTime() - Date.now()),
    waitForEvent: async (_, { timeout }) => restFor(timeout),
    sendEvent: rest,
  };
  const { id: execution_id, project_id } = request;
  await carryRun({ event: { data: { execution_id, project_id, dispatch: 0 } }, step }, claim).catch((error: unknown) => {
    if (!(error instanceof Rest || error instanceof ExecutionFailed)) throw error;
  });
}
