import { follow } from "#server/platform/abort.ts";
import { isDatabaseAway, messageOf } from "#server/platform/errors.ts";
import { RunExecutor } from "#server/runs/executor/run-executor.ts";
import { readSecrets } from "#server/runs/executor/run-secrets.ts";
import { memoryAccount } from "#server/runs/memory-account.ts";
import {
  type Claim,
  type Ending,
  type EngineServices,
  failure,
  HostFault,
  LeaseLost,
  MAX_CRASHES,
  type RunState,
  StorageFull,
} from "#server/runs/ports.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { shortError } from "#server/workflow/output-size.ts";

/** How often a lease is renewed, in milliseconds; a lease lasts three times as long. */
const RENEW_MS = 10_000;

/** What run-workflow does next. */
export type Outcome =
  /** The run has ended, or a newer request has claimed it. */
  | { kind: "over" }
  /**
   * Nothing can be done for so many seconds: another process has its lease, its project has no free slot, or this process has no
   * memory for it.
   */
  | { kind: "busy"; seconds: number }
  /** The time share is used up and there is more to do. */
  | { kind: "yielded" }
  /**
   * It does nothing but wait now. `at`: when that was found. `run_at`: the nearest deadline. `is_time`: all its waits are for a time.
   * `labels`: of the nodes that wait, the first of them.
   */
  | { kind: "waiting"; at: string; run_at: string | null; is_time: boolean; labels: string[] };

/** What a process that holds the lease has come to; a run that it has ended comes with its ending. */
export type Executed = Exclude<Outcome, { kind: "over" }> | { kind: "over"; ending?: Ending };

async function namesFor(services: EngineServices, run: RunState): Promise<NodeScope> {
  const stored = run.graph.agent_names ?? {};
  const ids = run.graph.nodes
    .map((node) => node.data.agent_id)
    .filter((id): id is string => typeof id === "string" && id !== "" && !Object.hasOwn(stored, id));
  const names = ids.length ? await services.agentNames(run.project_id, [...new Set(ids)]) : new Map<string, string>();
  return { agentName: (id) => names.get(id) };
}

/** What will never be written, however often it is tried: what there is no room for, PostgreSQL's classes 22 and 54, and what is too long for one text. */
export function isRefused(error: unknown): boolean {
  if (error instanceof StorageFull) return true;
  if (error instanceof RangeError) return error.message === "Invalid string length";
  return error instanceof Error && "code" in error && /^(22|54)/.test(String(error.code));
}

/** Why a run whose results cannot be stored ends; trying again would only repeat what it has done. */
const whyUnstorable = (error: unknown): string =>
  error instanceof RangeError
    ? "The results together are too long to be stored. Keep less of them."
    : shortError(`A result could not be stored: ${messageOf(error)}`);

/** Why a run ends that takes the service down. */
function whyGivenUp({ graph, ledger }: RunState): string {
  const underWay = new Set(ledger.filter(({ status }) => status === "running").map(({ node_id }) => node_id));
  const labels = graph.nodes.filter(({ id }) => underWay.has(id)).map(labelOf);
  const where = labels.length ? ` (it was at ${labels.map((label) => `"${label}"`).join(", ")})` : "";
  return shortError(
    `The service stopped ${MAX_CRASHES} times in a row while it carried this run${where}, and no node had ended in between. It is not started again: it may need more memory than there is.`,
  );
}

/** Fails a run for a reason that is no node's. */
async function failRun(services: EngineServices, run: RunState, reason: string, signal: AbortSignal): Promise<Executed> {
  const commit = failure(reason, services.clock.now(), run.created_at);
  await services.store.commit(run, commit, signal);
  await services.store.closeOpen(run);
  return { kind: "over", ending: commit.ending };
}

/**
 * Claims a run, executes one segment of it, and releases the lease. Any process may call it at any time: one holds the lease, the
 * others return for how long.
 * @param seconds during which new nodes are started, so that a segment fits any host's request limit
 * @param claim takes the lease; of a caller that holds it already, or that names its request
 * @throws errors of the store during a database outage; a repeated call is safe
 */
export async function claimAndExecute(
  services: EngineServices,
  execution_id: string,
  seconds: number,
  claim: () => Promise<Claim> = () => services.store.claim(execution_id),
): Promise<Executed> {
  const claimed = await claim();
  return claimed.kind === "claimed" ? executeRun(services, claimed.run, seconds) : claimed;
}

/**
 * Moves a run on whose lease this process holds, and gives the lease back.
 * @param seconds for which new nodes are started
 * @param known the names of its agents, if the caller has them
 * @throws as `claimAndExecute`
 */
export async function executeRun(services: EngineServices, run: RunState, seconds: number, known?: NodeScope): Promise<Executed> {
  const outcome = await executeSegment(services, run, seconds, known);
  if (outcome.kind === "over" && run.parent_id !== null) services.childEnded(run.id);
  else if (outcome.kind === "over" && outcome.ending?.status === "failed") services.runFailed(run.id);
  if (outcome.kind === "over" && compileGraph(run.graph).startsRuns) services.parentEnded(run.id);
  return outcome;
}

async function executeSegment(services: EngineServices, run: RunState, seconds: number, known?: NodeScope): Promise<Executed> {
  const stop = new AbortController();
  const { signal } = stop;
  const unfollow = services.halt && follow(stop, services.halt);
  let isLost = false;
  let isDeferred = false;
  const check = async () => {
    // A database that is away says nothing about the lease; the next write will tell.
    if (await services.store.renew(run).catch(() => true)) return;
    isLost = true;
    stop.abort(new LeaseLost());
  };
  let executor: RunExecutor | undefined;
  let stopListening = () => {};
  const timer = setInterval(() => void check(), RENEW_MS);
  try {
    stopListening = await services.store.onControl(run.id, () => {
      void check();
      executor?.look();
    });
    if (run.crashes >= MAX_CRASHES) return await failRun(services, run, whyGivenUp(run), signal);
    const names = known ?? (await namesFor(services, run));
    const secrets = await readSecrets(services, run);
    const until = new Date(services.clock.now().getTime() + seconds * 1000);
    // Whoever started the run may have written a secret down there; what reads it later must find what is kept.
    run.input = await secrets.masker.inSlices(run.input);
    run.params = await secrets.masker.inSlices(run.params);
    executor = new RunExecutor(services, run, names, secrets, signal);
    const outcome = await executor.execute(until);
    if (outcome.kind === "finished") return { kind: "over", ending: outcome.ending };
    if (outcome.kind === "yielded") {
      await services.store.release(run, { kind: "now" });
      return outcome;
    }
    if (outcome.kind === "deferred") {
      isDeferred = true;
      const seconds = memoryAccount.retrySeconds;
      await services.store.release(run, { kind: "delayed", seconds });
      return { kind: "busy", seconds };
    }
    const { run_at, is_time, labels } = outcome;
    if (await services.store.release(run, { kind: "idle", run_at })) return { kind: "yielded" };
    return { kind: "waiting", at: services.clock.now().toISOString(), run_at: run_at?.toISOString() ?? null, is_time, labels };
  } catch (error) {
    if (error instanceof LeaseLost || isLost) {
      // Cancelled, another's, or undone by a crash of the database: the next look tells, and in the last case goes on.
      await services.store.release(run, { kind: "now" }).catch(() => undefined);
      return { kind: "yielded" };
    }
    if (isRefused(error) && !signal.aborted) return await failRun(services, run, whyUnstorable(error), signal);
    const isHalted = services.halt?.aborted;
    const isHosts = error instanceof HostFault || isDatabaseAway(error);
    const next = { kind: isHalted ? "now" : isHosts ? "retry" : "fault" } as const;
    await services.store.release(run, next).catch(() => undefined);
    if (isHalted) return { kind: "yielded" };
    throw error;
  } finally {
    memoryAccount.release(run, isDeferred);
    clearInterval(timer);
    unfollow?.();
    stopListening();
  }
}
