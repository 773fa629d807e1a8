import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type pg from "pg";
import { readPathsApart } from "#server/features/canvases/extract.ts";
import { MOST_READ } from "#server/features/canvases/latest.ts";
import { placeIn } from "#server/features/canvases/output-places.ts";
import type { Kept } from "#server/features/canvases/read-paths.ts";
import type { Reading } from "#server/features/canvases/readings.ts";
import { Bell } from "#server/platform/bell.ts";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { finds, type Sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { completedBefore, countBytes, countCompleted, resultsOf } from "#server/runs/store/results.ts";

// Values that widgets read, kept when runs end. The statement that ends a run queues it; a worker takes it from there.

type ReadingRow = Reading & { id: number; project_id: string };

const KEEP = `
  INSERT INTO reading_values (execution_id, reading_id, completed_at, number, json)
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::float8[], $5::text[]) ON CONFLICT DO NOTHING
  RETURNING execution_id, reading_id, date_trunc('hour', completed_at, 'UTC') AS hour, coalesce(length(json), 0) AS bytes`;
const MARK = `
  INSERT INTO reading_hours (reading_id, hour) SELECT DISTINCT * FROM unnest($1::int[], $2::timestamptz[]) ORDER BY 1, 2
  ON CONFLICT (reading_id, hour) DO UPDATE SET is_fresh = false`;

interface Added {
  execution_id: string;
  reading_id: number;
  hour: Date;
  /** Of what is no number. Numbers are small; of the rest somebody could have much kept. */
  bytes: number;
}

/** How many runs' results are in memory at once. */
const TOGETHER = 20;
/** How long values are dug out without a turn for others, in milliseconds. */
const TURN_MS = 50;

/** Keeps what these readings of one workflow find in runs. @returns what was not kept yet, for `addUp` */
async function keep(client: pg.PoolClient, execution_ids: readonly string[], readings: readonly ReadingRow[]): Promise<Added[]> {
  const added: Added[] = [];
  // In the same order whoever keeps them, so that two who find the same values never wait for each other.
  const ids = [...execution_ids].sort();
  const { project_id = "", workflow_id = "" } = readings[0] ?? {};
  const workflow = await client.query<{ snapshot_id: string }>("SELECT snapshot_id FROM workflows WHERE id = $1", [workflow_id]);
  const graph = await snapshotGraph(workflow.rows[0]?.snapshot_id ?? "", client);
  for (const [label, same] of Map.groupBy(readings, ({ output_label }) => output_label)) {
    for (let from = 0; from < ids.length; from += TOGETHER) {
      const results = await resultsOf(client, ids.slice(from, from + TOGETHER), placeIn(graph, label || null), MOST_READ);
      const rows: (Kept & { execution_id: string; reading_id: number; completed_at: Date })[] = [];
      let began = performance.now();
      for (const result of results.sort((a, b) => (a.execution_id < b.execution_id ? -1 : 1))) {
        const { execution_id, completed_at } = result;
        const paths = same.map(({ path }) => path);
        const found = await readPathsApart(project_id, result, paths);
        for (const [index, { id }] of same.entries())
          rows.push({ number: null, json: null, ...found[index], execution_id, reading_id: id, completed_at });
        if (performance.now() - began < TURN_MS) continue;
        await turn();
        began = performance.now();
      }
      const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
      const values = [column("execution_id"), column("reading_id"), column("completed_at"), column("number"), column("json")];
      if (rows.length) added.push(...(await client.query<Added>(KEEP, values)).rows);
    }
  }
  return added;
}

/** Marks the hours of all values that a transaction has added, and counts their size: at its end, in one order, as `keep` says. */
async function addUp(client: pg.PoolClient, added: readonly Added[]): Promise<void> {
  const bytes = new Map<string, number>();
  for (const row of added) if (row.bytes) bytes.set(row.execution_id, (bytes.get(row.execution_id) ?? 0) + row.bytes);
  if (bytes.size) await countBytes(client, bytes);
  if (added.length) await client.query(MARK, [added.map(({ reading_id }) => reading_id), added.map(({ hour }) => hour)]);
}

const READINGS = `
  SELECT id, project_id, workflow_id, output_label, path FROM readings WHERE workflow_id = ANY($1::uuid[]) AND path <> '' ORDER BY id FOR KEY SHARE`;

/** Tells whoever looks at canvases that a workflow has something new to show. */
const tellViewers = (client: pg.PoolClient, workflow_ids: readonly string[]) =>
  client.query("SELECT pg_notify('treadle_canvas', id) FROM unnest($1::text[]) AS id", [workflow_ids]);

const QUEUE = `
  DELETE FROM reading_queue WHERE execution_id IN (
    SELECT execution_id FROM reading_queue ORDER BY ended_at LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING execution_id, workflow_id`;

/** How many runs one transaction takes from the queue. */
const BATCH = 100;

/**
 * Keeps the values of runs that have ended; those of a process that dies meanwhile are in the queue again.
 * @returns whether there may be more
 */
export async function fillQueued(): Promise<boolean> {
  return inTransaction(async (client) => {
    const { rows } = await client.query<{ execution_id: string; workflow_id: string }>(QUEUE, [BATCH]);
    if (rows.length === 0) return false;
    const byWorkflow = Map.groupBy(rows, ({ workflow_id }) => workflow_id);
    const { rows: readings } = await client.query<ReadingRow>(READINGS, [[...byWorkflow.keys()]]);
    const added: Added[] = [];
    for (const [workflow_id, runs] of byWorkflow) {
      const own = readings.filter((reading) => reading.workflow_id === workflow_id);
      const ids = runs.map(({ execution_id }) => execution_id);
      if (own.length) added.push(...(await keep(client, ids, own)));
    }
    await addUp(client, added);
    await tellViewers(client, [...byWorkflow.keys()]);
    return rows.length === BATCH;
  });
}

/** How long runs that end together gather, in milliseconds. */
const GATHER_MS = 200;

/**
 * Begins to keep values in this process, of runs that end and, while none does, of the past; any number of processes may.
 * @returns how to stop; resolves when what was begun is done
 */
export async function startFilling(): Promise<() => Promise<void>> {
  const over = new AbortController();
  const bell = new Bell(over.signal);
  const unsubscribe = await subscribe("treadle_reading", "", () => bell.ring());
  const work = async () => {
    while (!over.signal.aborted) {
      try {
        while (!over.signal.aborted && ((await fillQueued()) || (await fillPast())));
      } catch (err) {
        log.warn({ err }, "values of runs could not be kept, trying again");
      }
      await bell.rung();
      await pause(GATHER_MS, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
    }
  };
  const working = work();
  return async () => {
    unsubscribe();
    over.abort();
    await working;
  };
}

// ---------------------------------------------------------------- runs of before

type Unfilled = ReadingRow & { total: number | null; done: number; before_at: Date | null; before_id: string | null };

const UNFILLED = `FROM readings r WHERE filled_at IS NULL AND EXISTS (SELECT FROM canvas_readings c WHERE c.reading_id = r.id)`;
/** The one that has come least far, so that a short past does not wait for a long one. */
const NEXT_UNFILLED = `
  SELECT * ${UNFILLED} ORDER BY done, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`;
const PROGRESS = `
  UPDATE readings SET done = least($2::int, $3::int), total = $3, before_at = coalesce($4::timestamptz, before_at),
    before_id = coalesce($5::uuid, before_id), filled_at = CASE WHEN $6::boolean THEN now() END
  WHERE id = $1`;

/** How many past runs one transaction reads at most. */
const PAST_BATCH = 200;
/** A transaction that took longer makes the next one smaller, in milliseconds: a canvas that reads the same is not saved meanwhile. */
const LONG_MS = 1000;
let batch = PAST_BATCH;
/** How many of the newest runs are read once more at the end: the statement that ended one may not have seen the reading yet. */
const AGAIN = 1000;
const NOT_KEPT = `
  SELECT id FROM unnest($1::uuid[]) AS id
  WHERE NOT EXISTS (SELECT FROM reading_values v WHERE v.execution_id = id AND v.reading_id = $2)`;
/** After how many the hours that they fell into are added up: who looks meanwhile need not read all values one by one. */
const FOLDED_TOGETHER = 5000;
/** How long that may take at once, in milliseconds; a job goes on with it. */
const FIRST_FOLD_MS = 5000;

/**
 * Reads some past runs for a reading that is not filled yet, from the newest to the oldest.
 * @returns whether there was one
 */
export async function fillPast(): Promise<boolean> {
  const filled = await inTransaction(async (client) => {
    const began = performance.now();
    const { rows } = await client.query<Unfilled>(NEXT_UNFILLED);
    const [reading] = rows;
    if (!reading) return undefined;
    const { id, workflow_id, path, before_at, before_id } = reading;
    const total = reading.total ?? (path === "" ? 0 : await countCompleted(client, workflow_id));
    const before = before_at && before_id ? { at: before_at, id: before_id } : null;
    const runs = path === "" ? [] : await completedBefore(client, workflow_id, before, batch);
    const isOver = runs.length < batch;
    const again = isOver && path !== "" ? await completedBefore(client, workflow_id, null, AGAIN) : [];
    const ids = [...new Set([...runs, ...again].map((run) => run.id))];
    const missing = (await client.query<{ id: string }>(NOT_KEPT, [ids, id])).rows.map((row) => row.id);
    await addUp(client, await keep(client, missing, [reading]));
    const last = runs.at(-1);
    await client.query(PROGRESS, [id, reading.done + runs.length, total, last?.created_at ?? null, last?.id ?? null, isOver]);
    await tellViewers(client, [workflow_id]);
    batch = performance.now() - began > LONG_MS ? Math.max(10, Math.floor(batch / 2)) : Math.min(PAST_BATCH, batch * 2);
    return { id, mustFold: isOver || (reading.done + runs.length) % FOLDED_TOGETHER < PAST_BATCH };
  });
  if (filled?.mustFold) await foldHours({ reading_id: filled.id, turnMs: FIRST_FOLD_MS });
  return filled !== undefined;
}

/** Rings for what a process that died has left, and what went wrong. */
export const readingSweep: Sweep = {
  isDue: finds("SELECT FROM reading_queue", `SELECT ${UNFILLED}`),
  run: () => pool().query("SELECT pg_notify('treadle_reading', '')"),
};

// ---------------------------------------------------------------- hours

const MARKED = `
  SELECT reading_id, hour FROM reading_hours
  WHERE NOT is_fresh AND (hour < now() - interval '65 minutes' OR $3::boolean) AND ($1::int[] IS NULL OR reading_id = ANY($1))
  ORDER BY reading_id, hour LIMIT $2 FOR UPDATE SKIP LOCKED`;

const IN_HOUR = "v.reading_id = m.reading_id AND v.completed_at >= m.hour AND v.completed_at < m.hour + interval '1 hour'";
/** The first value of an hour in an order, of the numbers if there are any. */
const first = (order: string) =>
  `(SELECT v.number, v.completed_at, v.execution_id FROM reading_values v WHERE ${IN_HOUR} ORDER BY (v.number IS NULL), ${order} LIMIT 1)`;

// After the hours are locked, so that it sees what was added until then; who adds more marks the hour again.
const FOLD = `
  UPDATE reading_hours h SET is_fresh = true, count = s.count, others = s.others, sum = s.sum,
    min = s.min, min_at = s.min_at, min_id = s.min_id, max = s.max, max_at = s.max_at, max_id = s.max_id,
    last = s.last, last_at = s.last_at, last_id = s.last_id
  FROM (
    SELECT m.reading_id, m.hour, sums.*,
      lowest.number AS min, lowest.completed_at AS min_at, lowest.execution_id AS min_id,
      highest.number AS max, highest.completed_at AS max_at, highest.execution_id AS max_id,
      newest.number AS last, newest.completed_at AS last_at, newest.execution_id AS last_id
    FROM unnest($1::int[], $2::timestamptz[]) AS m(reading_id, hour)
    CROSS JOIN LATERAL (
      SELECT count(v.number)::int AS count, (count(*) - count(v.number))::int AS others, coalesce(sum(v.number), 0) AS sum
      FROM reading_values v WHERE ${IN_HOUR}
    ) AS sums
    LEFT JOIN LATERAL ${first("v.number, v.completed_at, v.execution_id")} AS lowest ON true
    LEFT JOIN LATERAL ${first("v.number DESC, v.completed_at, v.execution_id")} AS highest ON true
    LEFT JOIN LATERAL ${first("v.completed_at DESC, v.execution_id DESC")} AS newest ON true
  ) AS s
  WHERE h.reading_id = s.reading_id AND h.hour = s.hour`;

/** How many hours one transaction adds up, and how long one turn may take, in milliseconds. */
const HOURS = 100;
const FOLD_MS = 20_000;

/** Adds up at most HOURS marked hours; open ones too when `isOpen`. Returns how many there were. */
async function foldSome(reading_ids: readonly number[] | null, isOpen: boolean): Promise<number> {
  return inTransaction(async (client) => {
    const { rows } = await client.query<{ reading_id: number; hour: Date }>(MARKED, [reading_ids, HOURS, isOpen]);
    if (rows.length) await client.query(FOLD, [rows.map((row) => row.reading_id), rows.map(({ hour }) => hour)]);
    return rows.length;
  });
}

/**
 * Adds up the values of marked hours that are over.
 * @param options.reading_id left out, of all
 * @returns whether all are added up
 */
export async function foldHours({ reading_id, turnMs = FOLD_MS }: { reading_id?: number; turnMs?: number } = {}): Promise<boolean> {
  const until = performance.now() + turnMs;
  for (;;) {
    const folded = await foldSome(reading_id === undefined ? null : [reading_id], false);
    if (folded < HOURS) return true;
    if (performance.now() > until) return false;
  }
}

const HAS_MARKED = "SELECT FROM reading_hours WHERE NOT is_fresh AND reading_id = ANY($1) LIMIT 1";

/**
 * Adds up marked hours that are about to be read, the open one too: each value is then read once, and not by each widget again.
 * Hours that another reader adds up at this moment are left to it.
 */
export async function foldForReaders(reading_ids: readonly number[]): Promise<void> {
  if (reading_ids.length === 0) return;
  const { rowCount } = await pool().query({ name: "has-marked-hours", text: HAS_MARKED, values: [reading_ids] });
  if (rowCount) await foldSome(reading_ids, true);
}
