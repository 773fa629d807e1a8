import type { Commit, EventWrite, LedgerRow, RunState, RunStore } from "#server/engine/ports.ts";
import type { Graph } from "#server/schemas/graph.ts";

/** A run store in memory, for tests of the run loop alone; the real one is tested against PostgreSQL. */
export function memoryStore(graph: Graph, start: { input?: string; params?: Record<string, unknown>; ledger?: LedgerRow[] } = {}) {
  const run: RunState = {
    id: "run",
    project_id: "project",
    epoch: 1,
    commits: 0,
    created_at: new Date(0),
    started_at: new Date(0),
    input: start.input ?? "",
    params: start.params ?? {},
    graph,
    ledger: start.ledger ?? [],
  };
  const commits: Commit[] = [];
  const deltas: EventWrite[] = [];
  const store: RunStore = {
    acquire: async () => ({ kind: "acquired", run }),
    commit: async (_, commit) => void commits.push(structuredClone(commit)),
    deltas: async (_, events) => void deltas.push(...events),
    renew: async () => true,
    release: async () => undefined,
    onControl: async () => () => undefined,
  };
  return {
    store,
    deltas,
    commits,
    events: () => commits.flatMap((commit) => commit.events),
    rows: () => commits.flatMap((commit) => commit.rows),
    ending: () => commits.at(-1)?.ending,
  };
}
