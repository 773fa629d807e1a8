import type { Commit, EventWrite, LedgerRow, ReviewState, RunState, RunStore } from "#server/engine/ports.ts";
import type { Graph } from "#server/schemas/graph.ts";

/** A run store in memory, for tests of the run loop alone; the real one is tested against PostgreSQL. */
export function memoryStore(graph: Graph, start: { input?: string; params?: Record<string, unknown>; ledger?: LedgerRow[] } = {}) {
  const run: RunState = {
    id: "run",
    project_id: "project",
    status: "running",
    epoch: 1,
    holder: "test",
    commits: 0,
    toldFrom: new Map(),
    created_at: new Date(0),
    started_at: new Date(0),
    input: start.input ?? "",
    params: start.params ?? {},
    graph,
    ledger: start.ledger ?? [],
  };
  const commits: Commit[] = [];
  const deltas: EventWrite[] = [];
  const open = new Map<string, ReviewState>();
  /** What the database would do to the reviews. */
  const keepReviews = ({ reviews = [], taken = [], withdrawn = [], ending }: Commit) => {
    for (const { id, node_id, iteration, title, display_value, due_at } of reviews)
      open.set(id, { id, node_id, iteration, title, display_value, status: "waiting", comment: null, due_at });
    for (const id of taken) open.delete(id);
    for (const [id, review] of open)
      if (ending || withdrawn.some((one) => one.node_id === review.node_id && one.iteration === review.iteration)) open.delete(id);
  };
  /** The ledger as a later segment would find it. */
  const keepRows = ({ rows }: Commit) => {
    for (const row of rows) {
      const at = run.ledger.findIndex((known) => known.id === row.id);
      if (at === -1) run.ledger.push(structuredClone(row));
      else run.ledger[at] = structuredClone(row);
    }
  };
  const listeners = new Set<() => void>();
  const decide = (node_id: string, status: "approved" | "rejected", comment: string | null = null, iteration = "") => {
    for (const review of open.values())
      if (review.node_id === node_id && review.iteration === iteration && review.status === "waiting")
        Object.assign(review, { status, comment });
    for (const listener of listeners) listener();
  };
  const store: RunStore = {
    acquire: async () => ({ kind: "acquired", run }),
    commit: async (_, commit) => {
      commits.push(structuredClone(commit));
      keepReviews(commit);
      keepRows(commit);
    },
    reviews: async (_, now) => {
      for (const review of open.values())
        if (review.status === "waiting" && review.due_at && review.due_at <= now) review.status = "rejected";
      return [...open.values()].map((review) => ({ ...review }));
    },
    deltas: async (_, events) => void deltas.push(...events),
    renew: async () => true,
    release: async () => undefined,
    closeOpen: async () => {
      for (const row of run.ledger) if (row.status === "running" || row.status === "waiting") row.status = "skipped";
    },
    onControl: async (_, callback) => {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
  };
  return {
    store,
    run,
    decide,
    /** Ids of nodes whose reviews wait, with their iteration. */
    waiting: () =>
      [...open.values()].filter(({ status }) => status === "waiting").map(({ node_id, iteration }) => ({ node_id, iteration })),
    deltas,
    commits,
    events: () => commits.flatMap((commit) => commit.events),
    rows: () => commits.flatMap((commit) => commit.rows),
    ending: () => commits.at(-1)?.ending,
  };
}
