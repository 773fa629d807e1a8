import { isDatabaseAway, messageOf } from "#server/platform/errors.ts";
import { follow } from "#server/platform/follow.ts";
import { type Ending, type EngineServices, HostFault, LeaseLost, type RunState, StorageFull } from "#server/runs/executor/ports.ts";
import { readSecrets } from "#server/runs/executor/run-secrets.ts";
import { Segment } from "#server/runs/executor/segment.ts";
import type { NodeScope } from "#server/workflow/define-node.ts";
import { shortError } from "#server/workflow/output-size.ts";

/** How often a lease is renewed, in milliseconds; a lease lasts three times as long. */
const RENEW_MS = 10_000;

/** What run-workflow does next. */
export type Outcome =
  /** The run has ended, or a newer dispatch carries it. */
  | { kind: "over" }
  /** Another process holds it, for so long unless it renews its lease. */
  | { kind: "busy"; seconds: number }
  /** The time share is used up and there is more to do. */
  | { kind: "yielded" }
  /** It does nothing but wait now. `at`: when that was found; `run_at`: the nearest deadline. */
  | { kind: "waiting"; at: string; run_at: string | null };

/** What a process that holds the lease has come to; a run that it has ended comes with its ending. */
export type Carried = Exclude<Outcome, { kind: "over" | "busy" }> | { kind: "over"; ending?: Ending };

async function namesFor(services: EngineServices, run: RunState): Promise<NodeScope> {
  const ids = run.graph.nodes.map((node) => node.data.agent_id).filter((id): id is string => typeof id === "string" && id !== "");
  const names = ids.length ? await services.agentNames(run.project_id, [...new Set(ids)]) : new Map<string, string>();
  return { agentName: (id) => names.get(id) };
}

/** What will never be written, however often it is tried: what there is no room for, PostgreSQL's classes 22 and 54, and what is too long for one text. */
export function isRefused(error: unknown): boolean {
  if (error instanceof StorageFull) return true;
  if (error instanceof RangeError) return error.message === "Invalid string length";
  return error instanceof Error && "code" in error && /^(22|54)/.test(String(error.code));
}

/** Ends a run whose results cannot be stored; trying again would only repeat what it has done. */
async function endAsUnstorable(services: EngineServices, run: RunState, error: unknown, signal: AbortSignal): Promise<Carried> {
  const reason =
    error instanceof RangeError
      ? "The results together are too long to be stored. Keep less of them."
      : shortError(`A result could not be stored: ${messageOf(error)}`);
  const now = services.clock.now();
  const duration_ms = now.getTime() - run.created_at.getTime();
  const event = { type: "execution_failed", status: "failed", error: reason, duration_ms, timestamp: now.toISOString() } as const;
  const ending = { status: "failed", output: null, outputs: [], error: reason } as const;
  await services.store.commit(run, { rows: [], events: [event], ending: { ...ending, outputs: [] } }, signal);
  await services.store.closeOpen(run);
  return { kind: "over", ending: { ...ending, outputs: [] } };
}

/**
 * Claims a run, runs what can run, and gives the lease back. Safe to call at any time and from several processes: one holds the
 * lease, the others are told for how long.
 * @param seconds for which new nodes are started, so that it fits any host's request limit
 * @param dispatch which request of an Inngest server this is; only the newest acts
 * @throws whatever the store throws when the database is away; calling again is always right
 */
export async function claimAndExecute(
  services: EngineServices,
  execution_id: string,
  seconds: number,
  dispatch?: number,
): Promise<Outcome> {
  const claim = await services.store.claim(execution_id, dispatch);
  if (claim.kind !== "claimed") return claim;
  const outcome = await executeRun(services, claim.run, seconds);
  return outcome.kind === "over" ? { kind: "over" } : outcome;
}

/**
 * Moves a run on whose lease this process holds, and gives the lease back.
 * @param seconds for which new nodes are started
 * @param known the names of its agents, if the caller has them
 * @throws as `claimAndExecute`
 */
export async function executeRun(services: EngineServices, run: RunState, seconds: number, known?: NodeScope): Promise<Carried> {
  const stop = new AbortController();
  const { signal } = stop;
  const unfollow = services.halt && follow(stop, services.halt);
  let isLost = false;
  const check = async () => {
    // A database that is away says nothing about the lease; the next write will tell.
    if (await services.store.renew(run).catch(() => true)) return;
    isLost = true;
    stop.abort(new LeaseLost());
  };
  let segment: Segment | undefined;
  let stopListening = () => {};
  const timer = setInterval(() => void check(), RENEW_MS);
  try {
    stopListening = await services.store.onControl(run.id, () => {
      void check();
      segment?.look();
    });
    const names = known ?? (await namesFor(services, run));
    const secrets = await readSecrets(services, run);
    const until = new Date(services.clock.now().getTime() + seconds * 1000);
    // Whoever started the run may have written a secret down there; what reads it later must find what is kept.
    run.input = secrets.masker.text(run.input);
    run.params = secrets.masker.deep(run.params);
    segment = new Segment(services, run, names, secrets, signal);
    const outcome = await segment.carryOn(until);
    if (outcome.kind === "finished") return { kind: "over", ending: outcome.ending };
    if (outcome.kind === "yielded") {
      await services.store.release(run);
      return outcome;
    }
    const { run_at } = outcome;
    if (await services.store.release(run, { run_at })) return { kind: "yielded" };
    return { kind: "waiting", at: services.clock.now().toISOString(), run_at: run_at?.toISOString() ?? null };
  } catch (error) {
    if (error instanceof LeaseLost || isLost) {
      // Cancelled, another's, or undone by a crash of the database: the next look tells, and in the last case goes on.
      await services.store.release(run).catch(() => undefined);
      return { kind: "yielded" };
    }
    if (isRefused(error) && !signal.aborted) return await endAsUnstorable(services, run, error, signal);
    const isHalted = services.halt?.aborted;
    const isHosts = error instanceof HostFault || isDatabaseAway(error);
    await services.store.release(run, isHalted ? undefined : isHosts ? "later" : "fault").catch(() => undefined);
    if (isHalted) return { kind: "yielded" };
    throw error;
  } finally {
    clearInterval(timer);
    unfollow?.();
    stopListening();
  }
}
