import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { wordPatterns } from "#server/platform/search-words.ts";
import { wholeText } from "#server/runs/store/texts.ts";

// What completed runs of a workflow came to, for those who show it on. Runs of drafts are trials, and no results.

/** How many of the runs that began last are looked at for those that ended last, or have reached an Output node. */
const LOOKED_AT = 100;

/** The result of one completed run: of an Output node, or its output. */
export interface RunResult {
  execution_id: string;
  completed_at: Date;
  /** The beginning, when it is longer than was asked for. */
  text: string;
  /** Characters of the whole. */
  length: number;
}

/** An Output node of a workflow's current version. Results of earlier runs are found by its id where it had another label then. */
export interface OutputPlace {
  label: string;
  node_ids: readonly string[];
  /** Ids of the other Output nodes: what they gave under this label is not meant. */
  other_ids: readonly string[];
}

/** Rows of the Output node that a place means: $2 is its label, then come the parameters of its ids and of the others'. */
const placed = (node_ids: string, other_ids: string) => `
  v.execution_id = e.id AND (o.value->>'node_id' = ANY(${node_ids}::text[])
    OR (o.value->>'label' = $2 AND NOT coalesce(o.value->>'node_id' = ANY(${other_ids}::text[]), false)))
  ORDER BY coalesce(o.value->>'node_id' = ANY(${node_ids}::text[]), false) DESC`;
const TEXT = `coalesce(o.value->>'value', ${wholeText("e.id", "o.value->>'value_hash'")})`;

const latest = (text: string, from: string) => `
  SELECT e.id AS execution_id, e.completed_at, left(r.text, $4) AS text, length(r.text) AS length
  FROM (
    SELECT id, completed_at FROM (
      SELECT id, completed_at FROM executions
      WHERE workflow_id = $1 AND status = 'completed' AND workflow_version IS NOT NULL
      ORDER BY created_at DESC, id DESC LIMIT ${LOOKED_AT}
    ) AS begun ORDER BY completed_at DESC, id DESC
  ) AS e CROSS JOIN LATERAL (SELECT ${text} AS text FROM ${from} LIMIT 1) AS r
  WHERE r.text IS NOT NULL ORDER BY e.completed_at DESC, e.id DESC LIMIT $3`;

const OUTPUTS = `execution_values v CROSS JOIN jsonb_array_elements(CASE jsonb_typeof(v.outputs) WHEN 'array' THEN v.outputs ELSE '[]' END) AS o(value)`;
const OF_OUTPUT_NODE = latest(TEXT, `${OUTPUTS} WHERE ${placed("$5", "$6")}`);
const OF_RUN = latest("v.output", "execution_values v WHERE v.execution_id = e.id AND $2::text IS NULL");

/**
 * The results of the runs that completed last, newest first.
 * @param place null for the output of the run. Runs without it do not count
 * @param characters of each that are read at most
 */
export async function latestResults(
  workflow_id: string,
  place: OutputPlace | null,
  count: number,
  characters: number,
): Promise<RunResult[]> {
  const { rows } = await pool().query<RunResult>({
    name: place === null ? "latest-outputs" : "latest-output-nodes",
    text: place === null ? OF_RUN : OF_OUTPUT_NODE,
    values: [workflow_id, place?.label ?? null, count, characters, ...idsOf(place)],
  });
  return rows;
}

const idsOf = (place: OutputPlace | null) => (place === null ? [] : [place.node_ids, place.other_ids]);

const SAVED_RUNS =
  "SELECT id, created_at, completed_at FROM executions WHERE workflow_id = $1 AND workflow_version IS NOT NULL AND status =";
const FAILING = `
  WITH good AS MATERIALIZED (${SAVED_RUNS} 'completed' ORDER BY created_at DESC, id DESC LIMIT 1)
  SELECT last.id AS execution_id, first.completed_at AS since
  FROM (${SAVED_RUNS} 'failed' AND created_at > coalesce((SELECT created_at FROM good), '-infinity') ORDER BY created_at DESC, id DESC LIMIT 1) AS last,
    (${SAVED_RUNS} 'failed' AND created_at > coalesce((SELECT created_at FROM good), '-infinity') ORDER BY created_at, id LIMIT 1) AS first`;

/** Since when runs of a workflow's saved version have failed, and the latest that did; undefined when the newest has completed. */
export async function failingSince(workflow_id: string): Promise<{ execution_id: string; since: Date } | undefined> {
  const { rows } = await pool().query<{ execution_id: string; since: Date }>({
    name: "failing-since",
    text: FAILING,
    values: [workflow_id],
  });
  return rows[0];
}

const DONE = "e.status = 'completed' AND e.workflow_version IS NOT NULL";
/** Locked, so that whoever writes what it made of them in the same transaction finds them still there. */
const ended = (text: string, from: string) => `
  SELECT e.id AS execution_id, e.completed_at, left(r.text, $3) AS text, length(r.text) AS length
  FROM executions e CROSS JOIN LATERAL (SELECT ${text} AS text FROM ${from} LIMIT 1) AS r
  WHERE e.id = ANY($1::uuid[]) AND ${DONE} AND r.text IS NOT NULL FOR KEY SHARE OF e`;
const ENDED_OUTPUT_NODE = ended(TEXT, `${OUTPUTS} WHERE ${placed("$4", "$5")}`);
const ENDED_RUN = ended("v.output", "execution_values v WHERE v.execution_id = e.id AND $2::text IS NULL");

/** The results of these runs as far as they have completed; otherwise as `latestResults`. `within` a transaction, in which they stay. */
export async function resultsOf(
  within: pg.PoolClient,
  execution_ids: readonly string[],
  place: OutputPlace | null,
  characters: number,
): Promise<RunResult[]> {
  const values = [execution_ids, place?.label ?? null, characters, ...idsOf(place)];
  const { rows } = await within.query<RunResult>(place === null ? ENDED_RUN : ENDED_OUTPUT_NODE, values);
  return rows;
}

/** Counts what is kept of runs beside them, so that it is part of what their project holds. */
export async function countBytes(within: pg.PoolClient, bytes: ReadonlyMap<string, number>): Promise<void> {
  const rows = [...bytes].sort(([a], [b]) => (a < b ? -1 : 1));
  await within.query(
    "UPDATE executions e SET bytes = e.bytes + b.bytes FROM unnest($1::uuid[], $2::bigint[]) AS b(id, bytes) WHERE e.id = b.id",
    [rows.map(([id]) => id), rows.map(([, count]) => count)],
  );
}

/** How many runs of a workflow's saved versions have completed. */
export async function countCompleted(within: pg.PoolClient, workflow_id: string): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM executions e WHERE e.workflow_id = $1 AND ${DONE}`;
  return (await within.query<{ count: number }>(text, [workflow_id])).rows[0]?.count ?? 0;
}

/** Completed runs of a workflow that began before a given one, newest first. */
export async function completedBefore(
  within: pg.PoolClient,
  workflow_id: string,
  before: { at: Date; id: string } | null,
  limit: number,
): Promise<{ id: string; created_at: Date }[]> {
  const { rows } = await within.query<{ id: string; created_at: Date }>(
    `SELECT e.id, e.created_at FROM executions e
     WHERE e.workflow_id = $1 AND ${DONE} ${before ? "AND (e.created_at, e.id) < ($3::timestamptz, $4::uuid)" : ""}
     ORDER BY e.created_at DESC, e.id DESC LIMIT $2`,
    before ? [workflow_id, limit, before.at, before.id] : [workflow_id, limit],
  );
  return rows;
}

/** Characters of a value that a list shows. */
const GLIMPSE = 120;
const LATEST_RUNS = `
  SELECT w.id AS workflow_id, w.name, w.snapshot_id, e.completed_at, left(v.output, ${GLIMPSE}) AS glimpse, coalesce((
    SELECT jsonb_object_agg(o.value->>'label', left(${TEXT}, ${GLIMPSE})) FILTER (WHERE o.value->>'label' IS NOT NULL)
    FROM jsonb_array_elements(CASE jsonb_typeof(v.outputs) WHEN 'array' THEN v.outputs ELSE '[]' END) AS o(value)
  ), '{}') AS glimpses
  FROM workflows w
  LEFT JOIN LATERAL (
    SELECT id, completed_at FROM executions
    WHERE workflow_id = w.id AND status = 'completed' AND workflow_version IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS e ON true
  LEFT JOIN execution_values v ON v.execution_id = e.id
  WHERE w.project_id = $1 AND w.deleted_at IS NULL AND normalize(w.name, NFKC) ~ ALL ($2::text[])
  ORDER BY e.completed_at DESC NULLS LAST, w.id DESC LIMIT $3`;

/** A workflow with the beginnings of what its latest completed run came to. */
export interface LatestRun {
  workflow_id: string;
  name: string;
  snapshot_id: string;
  completed_at: Date | null;
  /** Of the run's output. */
  glimpse: string | null;
  /** By the label of an Output node. */
  glimpses: Record<string, string | null>;
}

/** A project's workflows with this in their name, the ones that completed last first, those that never have at the end. */
export async function latestRuns(project_id: string, search: string, count: number): Promise<LatestRun[]> {
  const { rows } = await pool().query<LatestRun>({
    name: "latest-runs",
    text: LATEST_RUNS,
    values: [project_id, wordPatterns(search), count],
  });
  return rows;
}
