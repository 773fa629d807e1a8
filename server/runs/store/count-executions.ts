import { LRUCache } from "lru-cache";
import { pool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { countOlderExecutions, PIECE } from "#server/runs/store/count-older-executions.ts";
import { isFinal } from "#server/shared/execution-status.ts";

export interface ExecutionFilter {
  project_id: string;
  workflow_id?: string | undefined;
  /** Any of these; left out, all. */
  statuses?: readonly ExecutionStatus[] | undefined;
}

const STATUS = '"ExecutionStatus"';

/** Everything, before a first piece of a project has been counted. */
const BEGINNING = new Date(0);

/** Until when each project's executions are in execution_counts, as this process knows; a wrong one is found out below. */
const known = new LRUCache<string, Date>({ max: 10_000 });

/**
 * The filter as SQL, over executions `e` and over counted pieces `c`; $1 is the project. Executions of a workflow are found
 * by the workflow alone, so that an index holds all that is asked.
 * @param from number of the first parameter that may be used
 */
export function conditions({ project_id, workflow_id, statuses }: ExecutionFilter, from: number) {
  const values: unknown[] = [];
  const parameter = (value: unknown, type: string) => `$${from - 1 + values.push(value)}::${type}`;
  const workflow = workflow_id === undefined ? undefined : parameter(workflow_id, "uuid");
  // One is compared as one: PostgreSQL reads a list of them from an index in no order.
  const state = !statuses
    ? ""
    : statuses.length === 1
      ? `= ${parameter(statuses[0], STATUS)}`
      : `= ANY(${parameter(statuses, `${STATUS}[]`)})`;
  const mine = "project_id = $1::uuid";
  const inWorkflow = workflow && `e.workflow_id = ${workflow} AND EXISTS (SELECT FROM workflows w WHERE w.id = ${workflow} AND w.${mine})`;
  return {
    executions: [inWorkflow ?? `e.${mine}`, ...(state ? [`e.status ${state}`] : [])].join(" AND "),
    counts: [`c.${mine}`, ...(workflow ? [`c.workflow_id = ${workflow}`] : []), ...(state ? [`c.status ${state}`] : [])].join(" AND "),
    values: [project_id, ...values],
  };
}

/**
 * Those that had not ended when they were counted, and have since ended as the filter asks: execution_open `o`. Looked up one by
 * one, since a planner that does not know yet of the last thousands would join them pair by pair.
 */
const endedSince = (executions: string) =>
  `execution_open o WHERE o.project_id = $1::uuid AND (SELECT ${executions} FROM executions e WHERE e.id = o.execution_id)`;

/**
 * What the filter matches: `total` exactly, and how many of them are newer than `until`, the end of what execution_counts
 * knows. One statement, so that a piece that is counted meanwhile is in it once.
 */
async function countAt(filter: ExecutionFilter, until: Date) {
  const {
    executions,
    counts,
    values: [project, ...values],
  } = conditions(filter, 3);
  // Not a named statement: its plan depends on where `until` lies.
  const { rows } = await pool().query<{ counted: number; newer: number; until: Date | null }>(
    `SELECT ((SELECT coalesce(sum(c.count), 0) FROM execution_counts c WHERE ${counts}) ${filter.statuses ? `+ (SELECT count(*) FROM ${endedSince(executions)})` : ""})::int AS counted,
            (SELECT count(*) FROM executions e WHERE ${executions} AND e.created_at >= $2::timestamptz)::int AS newer,
            (SELECT until FROM execution_counts WHERE project_id = $1::uuid ORDER BY since DESC LIMIT 1) AS until`,
    [project, until, ...values],
  );
  const { counted: before = 0, newer: since = 0, until: now = null } = rows[0] ?? {};
  return { total: before + since, newer: since, until: now ?? BEGINNING };
}

/** Of a state that ends, the few that are in it are counted as they are. */
async function countOpen(filter: ExecutionFilter): Promise<number> {
  const { executions, values } = conditions(filter, 2);
  const { rows } = await pool().query<{ total: number }>(`SELECT count(*)::int AS total FROM executions e WHERE ${executions}`, values);
  return rows[0]?.total ?? 0;
}

/**
 * How many executions the filter matches, exactly, without counting millions: those of the past are in execution_counts.
 * Executions write nothing there; whoever finds many that are not counted yet has them counted afterwards.
 * @returns `newer`: how many of them were created at `until` or later, which the pieces do not hold
 */
export async function countExecutions(filter: ExecutionFilter): Promise<{ total: number; newer: number; until: Date }> {
  const open = filter.statuses?.filter((status) => !isFinal(status)) ?? [];
  if (open.length) {
    const ended = filter.statuses?.filter(isFinal) ?? [];
    const past = ended.length ? (await countExecutions({ ...filter, statuses: ended })).total : 0;
    const total = past + (await countOpen({ ...filter, statuses: open }));
    return { total, newer: total, until: BEGINNING };
  }
  const { project_id } = filter;
  for (let until = known.get(project_id) ?? BEGINNING; ; ) {
    const found = await countAt(filter, until);
    if (found.until.getTime() === until.getTime()) {
      if (found.newer > 2 * PIECE)
        countOlderExecutions(project_id).catch((error) => log.warn({ err: error, project_id }, "executions were not counted ahead"));
      return found;
    }
    until = found.until;
    known.set(project_id, until);
  }
}

/** Counted pieces of a project's past, newest first, with how many in each match the filter. */
export async function countedPieces(filter: ExecutionFilter): Promise<{ until: Date; count: number }[]> {
  const { executions, counts, values } = conditions(filter, 2);
  const ended = `LEFT JOIN (
      SELECT o.since, count(*) AS count FROM ${endedSince(executions)} GROUP BY o.since
    ) AS ended USING (since)`;
  const { rows } = await pool().query<{ until: Date; count: number }>(
    `SELECT p.until, (p.count ${filter.statuses ? "+ coalesce(ended.count, 0)" : ""})::int AS count FROM (
       SELECT c.since, c.until, coalesce(sum(c.count) FILTER (WHERE ${counts}), 0) AS count
       FROM execution_counts c WHERE c.project_id = $1::uuid GROUP BY c.since, c.until
     ) AS p ${filter.statuses ? ended : ""} ORDER BY since DESC`,
    values,
  );
  return rows;
}
