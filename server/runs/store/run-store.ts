import type pg from "pg";
import { cleanText } from "#server/platform/clean-text.ts";
import { pool } from "#server/platform/db/client.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor, processId, settings } from "#server/platform/settings.ts";
import {
  type BodyOutput,
  type Claim,
  type Commit,
  type EndedItems,
  type Ending,
  type EventWrite,
  type ItemRow,
  LeaseLost,
  type LedgerRow,
  type LedgerWrite,
  type Past,
  type RunState,
  type RunStore,
  type WaitState,
} from "#server/runs/ports.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { assertSpace, noteStored } from "#server/runs/store/space.ts";
import {
  BODY_OUTPUTS,
  BODY_OUTPUTS_BYTES,
  BODY_OUTPUTS_LENGTH,
  BUSY,
  CLAIM,
  CLAIM_DUE,
  commitStatement,
  DELTAS,
  ITEMS,
  ITEMS_ENDED,
  LEDGER,
  LEDGER_WITH_LOOPS,
  RELEASE,
  RENEW,
  SPENT,
  WAIT_STATES,
} from "#server/runs/store/statements.ts";
import { LongTexts } from "#server/runs/store/texts.ts";
import { EXPIRE_OF_RUN } from "#server/runs/store/waits.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { MAX_OUTPUT } from "#server/workflow/output-size.ts";
import { withPins } from "#server/workflow/pins.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** When to ask again for a run whose project has no place, in seconds. */
const PLACE_SECONDS = 2;
/** How soon to try a run again that met a fault of the host, in seconds. */
const LATER_SECONDS = 10;
/** How long an Inngest server may take to go on with a run that was given back, before it is asked for again, in seconds. */
const SERVER_GOES_ON_SECONDS = 120;

/** How long a read is tried again while the database is away, in milliseconds. */
const OUTAGE_MS = 20_000;

/**
 * Does something again while the server cannot be reached.
 * @param signal when given, tries go on until it fires: a finished model call is worth waiting for, and nobody can take
 *   the lease while the database is away
 */
async function patiently<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const until = Date.now() + OUTAGE_MS;
  for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
    try {
      return await work();
    } catch (error) {
      const isOver = signal ? signal.aborted : Date.now() + delay > until;
      if (!isDatabaseAway(error) || isOver) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

const query = <Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[], signal?: AbortSignal): Promise<Row[]> =>
  patiently(async () => (await pool().query<Row>({ name, text, values })).rows, signal);

/** Events as they are stored: with whose they are. */
const eventJson = (run: Pick<RunState, "id">, events: EventWrite[], texts?: LongTexts) =>
  json(events.map((event) => ({ ...(texts?.event(event) ?? event), execution_id: run.id })));
const rowJson = (rows: Commit["rows"], texts: LongTexts) => json(lastOfEach(rows).map((row) => texts.row(row)));
const endingJson = (ending: Ending, texts: LongTexts) => json({ ...ending, outputs: ending.outputs.map((output) => texts.output(output)) });
/** JSON that PostgreSQL can keep: without U+0000 and without halves of surrogate pairs, such as cutting a text may leave. */
function json(value: unknown): string {
  const text = JSON.stringify(value);
  // Both are written as escapes; a text that holds none, as nearly all, is not gone through again.
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text;
  return JSON.stringify(value, (_, item) => (typeof item === "string" ? cleanText(item) : item));
}

/** A row of the queue whose lease has just been taken. */
type ClaimedRow = Omit<RunState, "epoch" | "commits" | keyof Past | "params" | "toldFrom" | "graph"> & {
  lease_epoch: number;
  snapshot_id: string;
  rerun_of_id: string | null;
  workflow_version: number | null;
  params: Record<string, unknown> | null;
};

let claims = 0;
/** Begins the name of a lease: no other ever has it. */
const claimName = () => `${processId()}-${++claims}`;

/** A claimed run with its graph and what has happened in it so far. */
async function stateOf(row: ClaimedRow): Promise<RunState> {
  try {
    return await readState(row);
  } catch (error) {
    await release(row, "later").catch(() => undefined);
    throw error;
  }
}

async function readState({ lease_epoch, snapshot_id, params, workflow_version, ...row }: ClaimedRow): Promise<RunState> {
  const isTest = workflow_version === null;
  const snapshot = await patiently(() => snapshotGraph(snapshot_id));
  const graph = isTest ? withPins(snapshot) : snapshot;
  const isNew = lease_epoch === 1 && !row.rerun_of_id && !isTest;
  const past = isNew ? { ledger: [], items: [], kept: 0 } : await readPast(row.id, graph);
  return { ...row, params: params ?? {}, graph, epoch: lease_epoch, commits: 0, ...past, toldFrom: new Map() };
}

async function claim(execution_id: string, dispatch: number | null = null): Promise<Claim> {
  const [row] = await query<ClaimedRow>("run-claim", CLAIM, [claimName(), settings().PROJECT_CONCURRENCY, execution_id, dispatch]);
  if (row) return { kind: "claimed", run: await stateOf(row) };
  const [held] = await query<{ seconds: number | null }>("run-busy", BUSY, [execution_id, dispatch]);
  return held ? { kind: "busy", seconds: held.seconds ?? PLACE_SECONDS } : { kind: "over" };
}

/** Runs that were due. */
export interface DueRuns {
  /** Each under a lease of this process; what it holds is read with the first look at it. */
  runs: { holder: string; id: string; project_id: string; state(): Promise<RunState> }[];
  /** True when others may be due, for which there was no place. */
  hasMore: boolean;
}

/**
 * Takes the leases of runs that are due: those of projects that have fewest under way first.
 * @param most how many
 * @param held holders of leases under which this process carries runs, also of those that ran out while the database was away
 * @throws the database's error; then leases may have been taken, and are due again when they end
 */
export async function claimDue(most: number, held: Iterable<string>): Promise<DueRuns> {
  const values = [claimName(), settings().PROJECT_CONCURRENCY, [...held], most];
  const { rows } = await pool().query<ClaimedRow & { more: boolean }>({ name: "run-claim-due", text: CLAIM_DUE, values });
  return {
    runs: rows.flatMap(({ more, ...row }) =>
      row.id ? [{ holder: row.holder, id: row.id, project_id: row.project_id, state: () => stateOf(row) }] : [],
    ),
    hasMore: rows[0]?.more ?? false,
  };
}

/** What has happened so far: rows, without the inside of iterations that have ended, and how far loops have come. */
async function readPast(execution_id: string, graph: Graph): Promise<Past> {
  const { owners, bodyOutputs } = compileGraph(graph);
  if (Object.keys(owners).length === 0) return { ledger: await query<LedgerRow>("run-ledger", LEDGER, [execution_id]), items: [], kept: 0 };
  const inside = JSON.stringify(owners);
  const ledger = await query<LedgerRow>("run-ledger-with-loops", LEDGER_WITH_LOOPS, [execution_id, inside]);
  const items = await query<EndedItems>("run-items-ended", ITEMS_ENDED, [execution_id, inside]);
  return { ledger, items, kept: await keptBy(execution_id, bodyOutputs) };
}

/** Characters that Outputs inside loops have left behind; of few the bytes, which cost nothing to know. */
async function keptBy(execution_id: string, node_ids: readonly string[]): Promise<number> {
  if (node_ids.length === 0) return 0;
  const [bytes] = await query<{ kept: number }>("run-body-outputs-bytes", BODY_OUTPUTS_BYTES, [execution_id, node_ids]);
  if (!bytes || bytes.kept <= MAX_OUTPUT) return bytes?.kept ?? 0;
  const [characters] = await query<{ kept: number }>("run-body-outputs-length", BODY_OUTPUTS_LENGTH, [execution_id, node_ids]);
  return characters?.kept ?? 0;
}

async function commit(run: RunState, { rows, events, ending, status, ...rest }: Commit, signal: AbortSignal): Promise<void> {
  if (!ending) assertSpace(run.project_id);
  const compiled = compileGraph(run.graph);
  const ended = rows.filter((row) => row.status !== "running");
  const { waits = [], taken = [], withdrawn = [] } = rest;
  const hasWaits = waits.length + taken.length + withdrawn.length > 0 || (ending !== undefined && compiled.hasWaits);
  const sum = (field: "input_tokens" | "output_tokens") => ended.reduce((total, row) => total + row[field], 0);
  const effects = rows.filter((row) => compiled.effects.has(row.node_id));
  // Only effects tell pieces. Those of an attempt come after its start, and before a first one there are none.
  const talked = effects.filter((row) => row.status !== "running" || row.attempt > 1);
  const first = talked.reduce((least, row) => Math.min(least, run.toldFrom.get(row.id) ?? 0), Number.MAX_SAFE_INTEGER);
  const texts = new LongTexts(run);
  const values: unknown[] = [
    run.id,
    run.holder,
    rowJson(rows, texts),
    eventJson(run, events, texts),
    ending ? endingJson(ending, texts) : null,
    sum("input_tokens"),
    sum("output_tokens"),
    talked.map(sourceOf),
    run.commits + 1,
    status ?? null,
    // What an effect did, or is about to do, is on the disk before the run goes on; pure nodes give the same again. While
    // an effect is under way nothing may be lost either: its result could no longer be written after it.
    !hasWaits && effects.length === 0 && run.toldFrom.size === 0,
    talked.length ? first : 0,
  ];
  const waiting = hasWaits ? json({ waits, taken, withdrawn }) : "";
  const bytes = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), texts.length + waiting.length);
  values.push(bytes);
  if (hasWaits) values.push(waiting, run.project_id);
  if (texts.lists) values.push(...texts.lists);
  const hasCalls = ended.some((row) => row.agent_id !== undefined);
  const { name, text } = commitStatement({ hasWaits, hasCalls, hasTexts: texts.lists !== undefined });
  const [written] = await query<{ seq: number }>(name, text, values, signal);
  if (!written && !(await isWritten(run))) throw new LeaseLost("Another process carries this run.");
  texts.written();
  noteStored(run.project_id, "runs", bytes);
  noteCommit(run, effects, written?.seq);
}

/**
 * Takes note that one more of a run's writes is in the database.
 * @param rows of it; what effects tell from now on stands behind `seq`
 */
export function noteCommit(run: RunState, rows: Commit["rows"], seq = 0): void {
  const { effects } = compileGraph(run.graph);
  run.commits += 1;
  for (const { id, node_id, status } of rows)
    if (status === "running" && effects.has(node_id)) run.toldFrom.set(id, seq);
    else run.toldFrom.delete(id);
}

/** Names a node in its iteration, as the statement that drops its pieces does. */
const sourceOf = ({ node_id, iteration }: { node_id: string; iteration?: string | undefined }) => `${iteration ?? ""} ${node_id}`;

/** True when the next write is there already: it was made, and the answer was lost on the way. */
async function isWritten(run: RunState): Promise<boolean> {
  const rows = await query("run-is-written", "SELECT 1 FROM executions WHERE id = $1 AND lease_owner = $2 AND commit_no = $3", [
    run.id,
    run.holder,
    run.commits + 1,
  ]);
  return rows.length > 0;
}

/**
 * True when the first write of a run is there: it was made, and the answer was lost on the way.
 * @param signal until when to ask a database that is away
 */
export async function isAccepted({ id, holder }: RunState, signal: AbortSignal): Promise<boolean> {
  return (await query("run-is-accepted", "SELECT 1 FROM executions WHERE id = $1 AND lease_owner = $2", [id, holder], signal)).length > 0;
}

/**
 * What `firstWrite` writes, as parameters: the rows and the events of a run that was never written before, and its ending if
 * it has ended.
 * @param texts takes the long ones, which are parameters of their own
 */
export const firstValues = (run: Pick<RunState, "id">, { rows, events, ending }: Commit, texts: LongTexts): string[] => [
  rowJson(rows, texts),
  eventJson(run, events, texts),
  ...(ending ? [endingJson(ending, texts)] : []),
];

/** A batch may hold the start and the end of one attempt; a statement may touch a row once only. */
function lastOfEach(rows: Commit["rows"]): Commit["rows"] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

async function deltas(run: RunState, events: EventWrite[]): Promise<void> {
  // Not worth a retry or a wait for the disk: the completed node holds the whole text.
  await pool().query({ name: "run-deltas", text: DELTAS, values: [run.id, run.holder, eventJson(run, events)] });
}

// A lease that was given back stays so: a notification that comes late would else hold the run up for half a minute.
async function spent(run: RunState, rows: LedgerWrite[]): Promise<void> {
  try {
    await query("run-spent", SPENT, [run.id, json(rows)]);
  } catch (error) {
    log.warn({ err: error, execution_id: run.id }, "what calls of a run had used that is over here could not be counted");
  }
}

async function renew(run: RunState): Promise<boolean> {
  return (await query("run-renew", RENEW, [run.id, run.holder])).length > 0;
}

const release: RunStore["release"] = async (run, next) => {
  const isWait = typeof next === "object";
  const later = next && !isWait ? LATER_SECONDS : 0;
  const seconds = isEmbeddedExecutor() ? later : SERVER_GOES_ON_SECONDS;
  const values = [run.id, run.holder, isWait ? next.run_at : null, seconds, isWait, next === "fault" ? 1 : 0];
  const [row] = await query<{ is_due: boolean }>("run-release", RELEASE, values);
  return row?.is_due ?? false;
};

const items = (run: RunState, { node_id, path }: { node_id: string; path: string }): Promise<ItemRow[]> =>
  query<ItemRow>("run-items", ITEMS, [run.id, node_id, path === "" ? 1 : path.split(".").length + 1, path]);

const bodyOutputs = (run: RunState, node_ids: readonly string[]): Promise<BodyOutput[]> =>
  query<BodyOutput>("run-body-outputs", BODY_OUTPUTS, [run.id, node_ids]);

async function closeOpen(run: RunState): Promise<void> {
  await query(
    "run-close-open",
    "UPDATE node_runs SET status = 'skipped', completed_at = now() WHERE execution_id = $1 AND status IN ('running', 'waiting')",
    [run.id],
  );
}

async function waits(run: RunState, now: Date): Promise<WaitState[]> {
  await query("run-waits-expire", EXPIRE_OF_RUN, [run.id, now]);
  return query<WaitState>("run-waits", WAIT_STATES, [run.id]);
}

/** The database side of the run loop. */
export const runStore: RunStore = {
  claim,
  commit,
  spent,
  deltas,
  renew,
  release,
  waits,
  items,
  bodyOutputs,
  closeOpen,
  onControl: (execution_id, callback) => subscribe("treadle_control", execution_id, callback),
};
