import { indexOf, parentOf } from "#server/runs/executor/frame.ts";
import {
  type Commit,
  type EndedItems,
  type Ending,
  type EventWrite,
  ITEM,
  type LedgerRow,
  type LongOutput,
  type Past,
  type RunState,
  type RunStore,
  type WaitState,
} from "#server/runs/ports.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** A deep copy of plain values and dates, which shares its texts: a structured clone writes each of them down and reads it again. */
function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map((part) => copyOf(part)) as Value;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)])) as Value;
}

/** An ending with its whole output, which a database would put together. */
const wholeEnding = ({ long: _, ...ending }: Ending, { pieces }: LongOutput): Ending => ({ ...ending, output: [...pieces()].join("") });

const pathOf = ({ iteration, handle }: LedgerRow) => (handle === ITEM ? parentOf(iteration) : iteration);

/** Returns the history that a later segment reads, as `readPast` of the real store does. */
function found(graph: Graph, rows: readonly LedgerRow[]): Past {
  const { owners, bodyOutputs } = compileGraph(graph);
  const ended = new Set(rows.filter(({ handle }) => handle === ITEM).map(({ node_id, iteration }) => `${node_id} ${iteration}`));
  const wanted = rows.filter((row) => !ended.has(`${owners[row.node_id]} ${pathOf(row)}`));
  const time = (row: LedgerRow) => row.completed_at?.getTime() ?? Number.MAX_SAFE_INTEGER;
  const ledger = wanted.filter(({ handle }) => handle !== ITEM).toSorted((a, b) => time(a) - time(b) || (a.id < b.id ? -1 : 1));
  const loops = Map.groupBy(
    wanted.filter(({ handle }) => handle === ITEM),
    (row) => `${row.node_id} ${pathOf(row)}`,
  );
  const count = (items: LedgerRow[], status: LedgerRow["status"]) => items.filter((item) => item.status === status).length;
  const outputs = rows.filter(({ node_id, status }) => status === "complete" && bodyOutputs.includes(node_id));
  return {
    kept: outputs.reduce((sum, { output }) => sum + (output?.length ?? 0), 0),
    ledger: copyOf(ledger).map((row) => ({ ...row, input: row.status === "running" ? row.input : null })),
    items: [...loops.values()].flatMap((items): EndedItems[] =>
      items.slice(0, 1).map((first) => ({
        node_id: first.node_id,
        path: pathOf(first),
        spans: items.map(({ iteration }) => [indexOf(iteration), indexOf(iteration) + 1]),
        complete: count(items, "complete"),
        failed: count(items, "failed"),
        isStopped: count(items, "skipped") > 0,
      })),
    ),
  };
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
    deltaFloors: new Map(),
    created_at: new Date(0),
    started_at: new Date(0),
    parent_id: null,
    message_id: null,
    input: start.input ?? "",
    params: start.params ?? {},
    graph,
    ledger: start.ledger ?? [],
    items: [],
    kept: 0,
    crashes: 0,
  };
  const commits: Commit[] = [];
  const deltas: EventWrite[] = [];
  const open = new Map<string, WaitState>();
  /** What the database would do to the waits. */
  const keepWaits = ({ waits = [], taken = [], withdrawn = [], ending }: Commit) => {
    for (const { id, node_id, iteration, reason, label, title = label, display_value = "", text = null, deadline } of waits)
      open.set(id, { id, node_id, iteration, reason, title, display_value, text, status: "waiting", outcome: null, deadline });
    for (const id of taken) open.delete(id);
    for (const [id, wait] of open)
      if (ending || withdrawn.some((one) => one.node_id === wait.node_id && one.iteration === wait.iteration)) open.delete(id);
  };
  /** The ledger as a later segment would find it. */
  const keepRows = ({ rows }: Commit) => {
    for (const row of rows) {
      const at = run.ledger.findIndex((known) => known.id === row.id);
      if (at === -1) run.ledger.push(copyOf(row));
      else run.ledger[at] = copyOf(row);
    }
  };
  const listeners = new Set<() => void>();
  const resolve = (node_id: string, outcome: unknown, iteration = "", text?: string) => {
    for (const wait of open.values())
      if (wait.node_id === node_id && wait.iteration === iteration && wait.status === "waiting")
        Object.assign(wait, { status: "resolved", outcome, ...(text !== undefined && { text }) });
    for (const listener of listeners) listener();
  };
  const decide = (node_id: string, decision: "approved" | "rejected", comment: string | null = null, iteration = "") =>
    resolve(node_id, { decision, comment }, iteration);
  const store: RunStore = {
    claim: async () => ({
      kind: "claimed",
      run: { ...run, ...found(graph, run.ledger), deltaFloors: new Map() },
    }),
    commit: async (_, written) => {
      const { ending } = written;
      const commit = ending?.long ? { ...written, ending: wholeEnding(ending, ending.long) } : written;
      run.status = commit.ending?.status ?? commit.status ?? run.status;
      commits.push(copyOf(commit));
      keepWaits(commit);
      keepRows(commit);
    },
    waits: async (_, now) => {
      for (const wait of open.values()) if (wait.status === "waiting" && wait.deadline && wait.deadline <= now) wait.status = "expired";
      const told = [...open.values()].find(({ status }) => status === "waiting");
      return [...open.values()].map((wait) => ({ ...wait, ...(wait !== told && { title: null, display_value: null }) }));
    },
    deltas: async (_, events) => void deltas.push(...events),
    spent: async () => undefined,
    renew: async () => true,
    release: async () => false,
    items: async (_, { node_id, path }) =>
      copyOf(run.ledger.filter((row) => row.node_id === node_id && row.handle === ITEM && parentOf(row.iteration) === path)),
    bodyOutputs: async (_, ids, handles) =>
      copyOf(
        run.ledger.filter(
          ({ node_id, status, handle }) => ids.includes(node_id) && status === "complete" && (handles?.includes(handle ?? "") ?? true),
        ),
      ),
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
    resolve,
    /** What waits: the node, its iteration, and for what. */
    waiting: () =>
      [...open.values()]
        .filter(({ status }) => status === "waiting")
        .map(({ node_id, iteration, reason }) => ({ node_id, iteration, reason })),
    deltas,
    commits,
    events: () => commits.flatMap((commit) => commit.events),
    rows: () => commits.flatMap((commit) => commit.rows),
    ending: () => commits.at(-1)?.ending,
  };
}
