import type { NodeScope } from "#server/engine/define-node.ts";
import { type EngineServices, LeaseLost, type RunState } from "#server/engine/ports.ts";
import { Segment } from "#server/engine/segment.ts";

/** How often a lease is renewed, in milliseconds; a lease lasts three times as long. */
const RENEW_MS = 10_000;

/** What run-workflow does next. */
export type Outcome =
  /** The run has ended, or a newer dispatch carries it. */
  | { kind: "over" }
  /** Another process holds it until then. */
  | { kind: "busy"; until: string }
  /** The time share is used up and there is more to do. */
  | { kind: "yielded" };

async function namesFor(services: EngineServices, run: RunState): Promise<NodeScope> {
  const ids = run.graph.nodes.map((node) => node.data.agent_id).filter((id): id is string => typeof id === "string" && id !== "");
  const names = ids.length ? await services.agentNames(run.project_id, [...new Set(ids)]) : new Map<string, string>();
  return { agentName: (id) => names.get(id) };
}

/**
 * Carries an execution on: takes its lease, runs what can run, and gives the lease back. Safe to call at any time and
 * from several processes: one holds the lease, the others are told until when.
 * @param dispatch which request this is; only the newest acts
 * @param seconds for which new nodes are started, so that a segment fits any host's request limit
 * @throws whatever the store throws when the database is away; calling again is always right
 */
export async function advance(services: EngineServices, execution_id: string, dispatch: number, seconds: number): Promise<Outcome> {
  const acquired = await services.store.acquire(execution_id, dispatch);
  if (acquired.kind === "busy") return { kind: "busy", until: acquired.until.toISOString() };
  if (acquired.kind === "over") return { kind: "over" };
  const { run } = acquired;
  const lost = new AbortController();
  const check = async () => {
    // A database that is away says nothing about the lease; the next write will tell.
    if (!(await services.store.renew(run).catch(() => true))) lost.abort(new LeaseLost());
  };
  const stopListening = await services.store.onControl(execution_id, () => void check());
  const timer = setInterval(() => void check(), RENEW_MS);
  try {
    const names = await namesFor(services, run);
    const until = new Date(services.clock.now().getTime() + seconds * 1000);
    const outcome = await new Segment(services, run, names, lost.signal).carryOn(until);
    if (outcome === "finished") return { kind: "over" };
    await services.store.release(run);
    return { kind: "yielded" };
  } catch (error) {
    if (error instanceof LeaseLost || lost.signal.aborted) return { kind: "over" };
    await services.store.release(run).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(timer);
    stopListening();
  }
}
