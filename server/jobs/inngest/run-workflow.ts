import { engineServices } from "#server/jobs/inngest/engine-services.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";
import { executeRun, type Outcome } from "#server/runs/executor/execute-run.ts";
import type { Claim, RunState } from "#server/runs/ports.ts";
import type { ExecutionStatus } from "#server/runs/schema.ts";
import { executionStatus } from "#server/runs/use-cases/get-execution.ts";

/** Segments in one run of the function; then it continues as a new one, long before Inngest's 1,000 steps. */
const SEGMENTS = 100;
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

/** An Inngest server goes on in the request that it has made; what this process must not start is for the next request. */
const isHandingOver = (): boolean => !isEmbeddedExecutor() && engineServices.drain?.aborted === true;

/** What the handler asks of whatever carries it: the part of Inngest's `step` that it uses. */
export interface RunSteps {
  run<Result>(id: string, work: () => Promise<Result>): Promise<Result>;
  sleep(id: string, ms: number): Promise<unknown>;
  /** Waits until something has happened to the run, for so many milliseconds. @returns null when nothing has */
  waitForWake(id: string, ms: number): Promise<unknown>;
}

/** Which run, and which request for it: a newer one takes its place. */
export interface RequestedRun {
  execution_id: string;
  project_id: string;
  dispatch: number;
}

/** Takes the lease of the run. */
export type ClaimRun = (request: RequestedRun) => Promise<Claim>;

/** With the state of a run that is over, for the pages of an Inngest server. */
type Carried = Outcome & { status?: ExecutionStatus };

async function carryOn(request: RequestedRun, claim: ClaimRun): Promise<Carried> {
  const claimed = await claim(request);
  if (claimed.kind === "busy") return claimed;
  const outcome = claimed.kind === "claimed" ? await executeRun(engineServices, claimed.run, settings().SEGMENT_SECONDS) : undefined;
  if (outcome && outcome.kind !== "over") return outcome;
  return { kind: "over", status: outcome?.ending?.status ?? (await executionStatus(request.execution_id)) };
}

/**
 * Carries a workflow run, whoever runs the handler. Control is here, data is in PostgreSQL: each step is one segment of the run,
 * however many nodes it runs, and a step that is repeated finds in the ledger what is done.
 * @returns how the run ended; nothing when another request goes on with it
 */
export async function runWorkflow(
  { event, step }: { event: { data: RequestedRun }; step: RunSteps },
  claim: ClaimRun,
): Promise<{ status: ExecutionStatus } | undefined> {
  const { execution_id, project_id, dispatch } = event.data;
  let waits = 0;
  for (let n = 0; n < SEGMENTS; n++) {
    const outcome = await step.run(`advance ${n}`, () => carryOn(event.data, claim));
    if (outcome.kind === "over") return outcome.status && { status: outcome.status };
    if (outcome.kind === "busy") await step.sleep(`busy ${n}`, wholeSeconds(outcome.seconds));
    if (outcome.kind === "yielded" && isHandingOver()) break;
    if (outcome.kind !== "waiting") {
      waits = 0;
      continue;
    }
    // The wait is stored before the step beside it starts, so a decision made in between is not lost.
    const [wake] = await Promise.all([
      step.waitForWake(`wake ${n}`, waitMs(outcome, waits)),
      step.run(`look again ${n}`, () => engineServices.wakeIfEnded(execution_id)),
    ]);
    waits = wake ? 0 : waits + 1;
  }
  await step.run("continue as new", () => engineServices.continueAsNew({ execution_id, project_id, dispatch: dispatch + 1 }));
  return undefined;
}

/** The run rests: its row says when somebody has to look at it next, and then the handler begins anew. */
class Rest extends Error {}
const rest = () => {
  throw new Rest();
};

/**
 * Carries a run that is due in this process, which has its lease, for one segment: whatever comes after that is a turn of its
 * own, behind others that are due.
 */
export async function carryDue(request: { id: string; project_id: string }, state: () => Promise<RunState>): Promise<void> {
  let hasRun = false;
  const claim = async () => ({ kind: "claimed" as const, run: await state() });
  const step: RunSteps = {
    run: async (_, work) => {
      if (hasRun) rest();
      hasRun = true;
      return work();
    },
    sleep: rest,
    waitForWake: rest,
  };
  const { id: execution_id, project_id } = request;
  await runWorkflow({ event: { data: { execution_id, project_id, dispatch: 0 } }, step }, claim).catch((error: unknown) => {
    if (!(error instanceof Rest)) throw error;
  });
}
