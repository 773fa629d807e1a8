import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import type pg from "pg";
import { readPathsApart } from "#server/features/canvases/extract.ts";
import { MOST_READ } from "#server/features/canvases/latest.ts";
import { placeIn } from "#server/features/canvases/output-places.ts";
import type { Kept } from "#server/features/canvases/read-paths.ts";
import type { Reading } from "#server/features/canvases/readings.ts";
import { rollUpHours } from "#server/features/canvases/roll-up-hours.ts";
import { Bell } from "#server/platform/bell.ts";
import { inTransaction, pool } from "#server/platform/db/client.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { raw, sql } from "#server/platform/db/sql.ts";
import { finds, type Sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { completedBefore, countBytes, countCompleted, resultsOf } from "#server/runs/store/results.ts";

// Values that widgets read, kept when runs end. The statement that ends a run queues it; a worker takes it from there.

type ReadingRow = Reading & { id: number; project_id: string };

interface Added {
  execution_id: string;
  reading_id: number;
  hour: Date;
  /** Of what is no number. Numbers are small; of the rest somebody could have much kept. */
  bytes: number;
}

type NewValue = Kept & { execution_id: string; reading_id: number; completed_at: Date };

/** Inserts recorded values. @returns those that were not there */
async function insertValues(client: pg.PoolClient, rows: readonly NewValue[]): Promise<Added[]> {
  const column = <Name extends keyof NewValue>(name: Name) => rows.map((row) => row[name]);

  const { rows: added } = await client.query<Added>(sql`
    INSERT INTO reading_values (execution_id, reading_id, completed_at, number, json)
    SELECT *
    FROM unnest(
      ${column("execution_id")}::uuid[], ${column("reading_id")}::int[], ${column("completed_at")}::timestamptz[],
      ${column("number")}::float8[], ${column("json")}::text[])
    ON CONFLICT DO NOTHING
    RETURNING execution_id, reading_id, date_trunc('hour', completed_at, 'UTC') AS hour, coalesce(length(json), 0) AS bytes`);
  return added;
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
  const workflow = await client.query<{ snapshot_id: string }>(sql`
    SELECT snapshot_id
    FROM workflows
    WHERE id = ${workflow_id}`);
  const graph = await snapshotGraph(workflow.rows[0]?.snapshot_id ?? "", client);
  for (const [label, same] of Map.groupBy(readings, ({ output_label }) => output_label)) {
    for (let from = 0; from < ids.length; from += TOGETHER) {
      const results = await resultsOf(client, ids.slice(from, from + TOGETHER), placeIn(graph, label || null), MOST_READ);
      const rows: NewValue[] = [];
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
      if (rows.length > 0) added.push(...(await insertValues(client, rows)));
    }
  }
  return added;
}

/** Marks the hours of all values that a transaction has added, and counts their bytes: at its end, in one order, as `keep` does. */
async function addUp(client: pg.PoolClient, added: readonly Added[]): Promise<void> {
  const bytes = new Map<string, number>();
  for (const row of added) if (row.bytes) bytes.set(row.execution_id, (bytes.get(row.execution_id) ?? 0) + row.bytes);

  if (bytes.size) await countBytes(client, bytes);
  if (added.length > 0) await markHours(client, added);
}

/** Marks hours whose sums are out of date. */
async function markHours(client: pg.PoolClient, hours: readonly Pick<Added, "reading_id" | "hour">[]): Promise<void> {
  await client.query(sql`
    INSERT INTO reading_hours (reading_id, hour)
    SELECT DISTINCT *
    FROM unnest(${hours.map(({ reading_id }) => reading_id)}::int[], ${hours.map(({ hour }) => hour)}::timestamptz[])
    ORDER BY 1, 2
    ON CONFLICT (reading_id, hour) DO UPDATE
    SET is_fresh = false`);
}

/** Locks the readings of workflows, so that none is deleted meanwhile. */
async function lockReadings(client: pg.PoolClient, workflow_ids: readonly string[]): Promise<ReadingRow[]> {
  const { rows } = await client.query<ReadingRow>(sql`
    SELECT id, project_id, workflow_id, output_label, path
    FROM readings
    WHERE workflow_id = ANY(${workflow_ids}::uuid[])
      AND path <> ''
    ORDER BY id
    FOR KEY SHARE`);
  return rows;
}

/** Notifies subscribers of dashboards that workflows have new values. */
const notifySubscribers = (client: pg.PoolClient, workflow_ids: readonly string[]) =>
  client.query(sql`
    SELECT pg_notify('treadle_canvas', id)
    FROM unnest(${workflow_ids}::text[]) AS id`);

/** Takes runs out of the queue, those that ended first. */
async function dequeue(client: pg.PoolClient, limit: number): Promise<{ execution_id: string; workflow_id: string }[]> {
  const { rows } = await client.query<{ execution_id: string; workflow_id: string }>(sql`
    DELETE FROM reading_queue
    WHERE execution_id IN (
      SELECT execution_id
      FROM reading_queue
      ORDER BY ended_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED)
    RETURNING execution_id, workflow_id`);
  return rows;
}

/** How many runs one transaction takes from the queue. */
const BATCH = 100;

/**
 * Keeps the values of runs that have ended; those of a process that dies meanwhile are in the queue again.
 * @returns whether there may be more
 */
export async function fillQueued(): Promise<boolean> {
  return inTransaction(async (client) => {
    const rows = await dequeue(client, BATCH);
    if (rows.length === 0) return false;
    const byWorkflow = Map.groupBy(rows, ({ workflow_id }) => workflow_id);
    const readings = await lockReadings(client, [...byWorkflow.keys()]);
    const added: Added[] = [];
    for (const [workflow_id, runs] of byWorkflow) {
      const own = readings.filter((reading) => reading.workflow_id === workflow_id);
      const ids = runs.map(({ execution_id }) => execution_id);
      if (own.length) added.push(...(await keep(client, ids, own)));
    }
    await addUp(client, added);
    await notifySubscribers(client, [...byWorkflow.keys()]);
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

const UNFILLED = "FROM readings r WHERE filled_at IS NULL AND EXISTS (SELECT FROM canvas_readings c WHERE c.reading_id = r.id)";

/** Locks the reading with the least progress, so that a short past does not wait for a long one. */
async function lockUnfilled(client: pg.PoolClient): Promise<Unfilled | undefined> {
  const { rows } = await client.query<Unfilled>(sql`
    SELECT *
    ${raw(UNFILLED)}
    ORDER BY done, id
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED`);
  return rows[0];
}

interface Progress {
  done: number;
  total: number;
  /** The oldest run that was read; undefined keeps the one before. */
  last: { id: string; created_at: Date } | undefined;
  isFilled: boolean;
}

/** Stores the progress of a reading. */
const storeProgress = (client: pg.PoolClient, id: number, { done, total, last, isFilled }: Progress) =>
  client.query(sql`
    UPDATE readings
    SET done = ${Math.min(done, total)},
      total = ${total},
      before_at = coalesce(${last?.created_at ?? null}::timestamptz, before_at),
      before_id = coalesce(${last?.id ?? null}::uuid, before_id),
      filled_at = CASE WHEN ${isFilled}::boolean THEN now() END
    WHERE id = ${id}`);

/** Returns the runs that have no value of a reading. */
async function withoutValue(client: pg.PoolClient, execution_ids: readonly string[], reading_id: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(sql`
    SELECT id
    FROM unnest(${execution_ids}::uuid[]) AS id
    WHERE NOT EXISTS (
      SELECT
      FROM reading_values v
      WHERE v.execution_id = id
        AND v.reading_id = ${reading_id})`);
  return rows.map((row) => row.id);
}

/** How many past runs one transaction reads at most. */
const PAST_BATCH = 200;
/** A transaction that took longer makes the next one smaller, in milliseconds: a canvas that reads the same is not saved meanwhile. */
const LONG_MS = 1000;
let batch = PAST_BATCH;
/** How many of the newest runs are read once more at the end: the statement that ended one may not have seen the reading yet. */
const AGAIN = 1000;
/** After how many the hours that they fell into are added up: who looks meanwhile need not read all values one by one. */
const ROLLED_UP_TOGETHER = 5000;
/** How long that may take at once, in milliseconds; a job goes on with it. */
const FIRST_ROLL_UP_MS = 5000;

/**
 * Reads some past runs for a reading that is not filled yet, from the newest to the oldest.
 * @returns whether there was one
 */
export async function fillPast(): Promise<boolean> {
  const filled = await inTransaction(async (client) => {
    const began = performance.now();
    const reading = await lockUnfilled(client);
    if (!reading) return undefined;
    const { id, workflow_id, path, before_at, before_id } = reading;
    const total = reading.total ?? (path === "" ? 0 : await countCompleted(client, workflow_id));
    const before = before_at && before_id ? { at: before_at, id: before_id } : null;
    const runs = path === "" ? [] : await completedBefore(client, workflow_id, before, batch);
    const isOver = runs.length < batch;
    const again = isOver && path !== "" ? await completedBefore(client, workflow_id, null, AGAIN) : [];
    const ids = [...new Set([...runs, ...again].map((run) => run.id))];
    const missing = await withoutValue(client, ids, id);
    await addUp(client, await keep(client, missing, [reading]));
    await storeProgress(client, id, { done: reading.done + runs.length, total, last: runs.at(-1), isFilled: isOver });
    await notifySubscribers(client, [workflow_id]);
    batch = performance.now() - began > LONG_MS ? Math.max(10, Math.floor(batch / 2)) : Math.min(PAST_BATCH, batch * 2);
    return { id, mustRollUp: isOver || (reading.done + runs.length) % ROLLED_UP_TOGETHER < PAST_BATCH };
  });
  if (filled?.mustRollUp) await rollUpHours({ reading_id: filled.id, turnMs: FIRST_ROLL_UP_MS });
  return filled !== undefined;
}

/** Rings for what a process that died has left, and what went wrong. */
export const readingSweep: Sweep = {
  isDue: finds("SELECT FROM reading_queue", `SELECT ${UNFILLED}`),
  run: () => pool().query("SELECT pg_notify('treadle_reading', '')"),
};
