import { definitionOf } from "#server/engine/graph.ts";
import { makePlan } from "#server/engine/plan.ts";
import {
  type Commit,
  type EventWrite,
  ITEM,
  type LedgerRow,
  type ReviewState,
  type RunState,
  type RunStore,
} from "#server/engine/ports.ts";
import type { Graph } from "#server/schemas/graph.ts";

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf(".")));

/** What a later segment finds: without the inside of iterations that have ended, as LEDGER_WITH_LOOPS of the real store has it. */
function ledgerFound(graph: Graph, rows: readonly LedgerRow[]): LedgerRow[] {
  const plan = makePlan(graph);
  const outputs = new Set(graph.nodes.filter(({ type }) => definitionOf(type)?.group === "output").map(({ id }) => id));
  const ended = new Set(rows.filter(({ handle }) => handle === ITEM).map(({ node_id, iteration }) => `${node_id} ${iteration}`));
  const isWanted = ({ node_id, iteration, handle }: LedgerRow) =>
    outputs.has(node_id) || !ended.has(`${plan.ownerOf(node_id)} ${handle === ITEM ? parentOf(iteration) : iteration}`);
  const time = (row: LedgerRow) => row.completed_at?.getTime() ?? Number.MAX_SAFE_INTEGER;
  const found = rows.filter(isWanted).toSorted((a, b) => time(a) - time(b) || (a.id < b.id ? -1 : 1));
  return structuredClone(found).map((row) => ({ ...row, input: row.status === "running" ? row.input : null }));
}

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
    acquire: async () => ({
      kind: "acquired",
      run: { ...run, ledger: ledgerFound(graph, run.ledger), toldFrom: new Map() },
    }),
    commit: async (_, commit) => {
      run.status = commit.ending?.status ?? commit.status ?? run.status;
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
