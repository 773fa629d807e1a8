import type pg from "pg";
import { cleanText } from "#server/platform/clean-text.ts";
import { empty, named, raw, type Sql, sql, when } from "#server/platform/db/sql.ts";
import { dueIn, mustNotifyWorkers } from "#server/runs/local-worker.ts";
import { AGENT_JSON } from "#server/runs/store/agent-json.ts";
import type { DeliveryOfExecution, NewExecution } from "#server/runs/store/create.ts";
import { hourlyLimit, hourlyValues } from "#server/runs/store/limits.ts";
import { HAS_VALUES, insertTexts, JSON_COLUMNS, ROW_COLUMNS, ROW_VALUES, VALUE_COLUMNS } from "#server/runs/store/node-run-columns.ts";
import { LEASE_SECONDS, NOW, projectLock, queueForReadings, TELL_DUE } from "#server/runs/store/sql.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

/** Progress of this process on a run whose row is not inserted yet. */
export interface BegunWrite {
  /** Name of its lease; null for a run that was refused. */
  holder: string | null;
  /** Seconds since it was created. */
  elapsed: number;
  /** Slots of the project. */
  slots: number;
  /** JSON of its first rows, events and ending. */
  first?: { rows: string; events: string; ending?: string | undefined } | undefined;
  /** Ids of agents to read, because the run calls them next. */
  agent_ids: readonly string[];
  /** Long texts that `first` refers to. */
  texts: [hashes: string[], texts: string[]] | undefined;
}

/** Values of a new run. */
export interface InsertWrite {
  id: string;
  execution: NewExecution;
  /** JSON of its parameters. */
  params: string | null;
  words: string[];
  bytes: number;
  delivery: DeliveryOfExecution | undefined;
  begun: BegunWrite | undefined;
}

/** `new`: due; `begun`: leased by this process; `first`: with its first rows; `whole`: final. */
type Kind = "new" | "begun" | "first" | "whole";

function kindOf(begun: BegunWrite | undefined): Kind {
  if (!begun) return "new";
  if (!begun.first) return "begun";
  return begun.first.ending === undefined ? "first" : "whole";
}

const CURRENT_TIME = raw(NOW);
const LEASE_END = sql`now() + ${LEASE_SECONDS} * interval '1 second'`;
const HAS_SLOT = raw("(SELECT has_slot FROM admission)");
const FIRST_VALUES = sql`,
      CASE WHEN ${HAS_SLOT} THEN jsonb_array_length(given.events) ELSE 0 END,
      CASE WHEN ${HAS_SLOT} THEN 1 ELSE 0 END`;

/** Columns of every new run, in the order of `commonValues`. */
const COMMON = `id, project_id, workflow_id, workflow_version, snapshot_id, trigger, started_by_id, started_by_key_id, assistant_message_id,
      input_preview, due_at, is_counted, bytes, rerun_of_id, parent_id, parent_node_id, depth`;

const commonValues = ({ execution, bytes }: InsertWrite): Sql => sql`
      given.id, given.project_id, given.workflow_id, ${execution.workflow_version}::int, ${execution.snapshot_id}::uuid,
      ${execution.trigger}, ${execution.started_by_id}::uuid, ${execution.started_by_key_id ?? null}::uuid,
      ${execution.assistant_message_id ?? null}::uuid, left(given.input, ${PREVIEW_CHARACTERS}),
      ${execution.due_at ?? null}::timestamptz, given.is_counted, ${bytes}::bigint, ${execution.rerun_of_id ?? null}::uuid,
      ${execution.parent?.execution_id ?? null}::uuid, ${execution.parent?.node_id ?? null}::text, ${execution.parent?.depth ?? 1}::int`;

const LEASED = `${COMMON},
      created_at, lease_owner, lease_epoch, status, started_at, lease_until, run_at`;

/** Columns of `executions` by kind, in the order of `columnValues`. */
const COLUMNS: Record<Kind, Sql> = {
  new: raw(`${COMMON}, status, run_at`),
  begun: raw(LEASED),
  first: raw(`${LEASED}, last_seq, commit_no`),
  whole: raw(`${COMMON},
      created_at, lease_owner, lease_epoch, status, started_at, completed_at, error, output_preview, last_seq, commit_no`),
};

/** Values of the columns, as expressions over `given` and `admission`. A run that gets no slot is due, as a new one. */
function columnValues(write: InsertWrite, kind: Kind): Sql {
  const common = commonValues(write);
  const status = write.execution.status ?? "pending";
  if (kind === "whole")
    return sql`${common},
      given.began_at, given.holder, 1, coalesce(given.ending->>'status', ${status})::"ExecutionStatus",
      CASE WHEN given.holder IS NOT NULL THEN given.began_at END, now(), given.ending->>'error',
      left(given.ending->>'output', ${PREVIEW_CHARACTERS}), jsonb_array_length(given.events), 1`;

  const dueAt = sql`${CURRENT_TIME} + make_interval(secs => ${dueIn()}::float8)`;
  if (kind === "new") return sql`${common}, ${status}::"ExecutionStatus", ${dueAt}`;

  return sql`${common},
      given.began_at,
      CASE WHEN ${HAS_SLOT} THEN given.holder END,
      CASE WHEN ${HAS_SLOT} THEN 1 ELSE 0 END,
      CASE WHEN ${HAS_SLOT} THEN 'running'::"ExecutionStatus" ELSE ${status}::"ExecutionStatus" END,
      CASE WHEN ${HAS_SLOT} THEN given.began_at END,
      CASE WHEN ${HAS_SLOT} THEN ${LEASE_END} END,
      CASE WHEN ${HAS_SLOT} THEN ${LEASE_END} ELSE ${dueAt} END${when(kind === "first", FIRST_VALUES)}`;
}

const BEGUN = raw("begun");

/** Inserts rows, events and long texts of a run that is leased or final. It notifies no process, since none knows of the run yet. */
const writeFirst = (isWhole: boolean, texts: BegunWrite["texts"]): Sql => sql`
  ), begun AS (
    SELECT id
    FROM execution
    ${when(!isWhole, sql`WHERE lease_owner IS NOT NULL`)}
  ), new_rows AS MATERIALIZED (
    SELECT begun.id AS execution_id, r.*
    FROM begun, given, jsonb_to_recordset(given.rows) AS r(${JSON_COLUMNS})
  ), written AS (
    INSERT INTO node_runs (${ROW_COLUMNS})
    SELECT ${ROW_VALUES}
    FROM new_rows
  ), valued AS (
    INSERT INTO node_run_values (node_run_id, ${VALUE_COLUMNS})
    SELECT id, ${VALUE_COLUMNS}
    FROM new_rows
    WHERE ${HAS_VALUES}
  ), emitted AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT begun.id, e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM begun, given, jsonb_array_elements(given.events) WITH ORDINALITY AS e(event, position)${texts ? insertTexts(BEGUN, texts) : empty}`;

/** Inserts the delivery that starts the run, unless a delivery with its key is there already. */
const writeDelivery = ({ id, delivery_key, body, refusal }: DeliveryOfExecution): Sql => sql`
  ), delivery AS (
    INSERT INTO webhook_deliveries (id, workflow_id, execution_id, delivery_key, body, status, error)
    SELECT ${id}::uuid, given.workflow_id, given.id, ${delivery_key}, ${body}, ${refusal?.status ?? 202}::int, ${refusal?.error ?? null}
    FROM admission, workflow, given
    WHERE admission.wait = 0
    ON CONFLICT (workflow_id, delivery_key) DO NOTHING
    RETURNING id`;

/** Columns of `given` for a run that this process has begun. */
const begunValues = ({ holder, elapsed, first }: BegunWrite): Sql => sql`,
      ${holder}::text AS holder,
      now() - make_interval(secs => ${elapsed}::float8) AS began_at${
        first
          ? sql`,
      ${first.rows}::jsonb AS rows,
      ${first.events}::jsonb AS events,
      ${first.ending ?? null}::jsonb AS ending`
          : empty
      }`;

/** Notifies workers of a run that is due, if this process does not take it. */
const notifyWorkers = (): Sql => sql`, CASE
      WHEN ${mustNotifyWorkers()}::boolean AND execution.id IS NOT NULL AND execution.lease_owner IS NULL THEN ${NOTIFY_DUE}
    END`;

/** Reads agents as a `FoundAgent` by id. */
const readAgents = (agent_ids: readonly string[]): Sql => sql`(
      SELECT jsonb_object_agg(a.id, ${AGENT})
      FROM agents a
      JOIN llm_keys k ON k.id = a.llm_key_id
      WHERE a.id = ANY(${agent_ids}::uuid[])
        AND a.project_id = given.project_id
    ) AS agents`;

const HOURLY_LIMIT = raw(hourlyLimit("given.hourly_preset", "given.hourly_max"));
const PROJECT_LOCK = raw(projectLock("given.project_id"));
/** A slot is counted under the lock of the project, whether the hour is counted or not. */
const LOCK_ALWAYS = sql`
    SELECT (SELECT hourly FROM allowed) AS hourly, ${PROJECT_LOCK}
    FROM given`;
const LOCK_TO_COUNT = sql`
    SELECT hourly, ${PROJECT_LOCK}
    FROM allowed, given
    WHERE hourly > 0`;
const AGENT = raw(AGENT_JSON);
const NOTIFY_DUE = raw(TELL_DUE);
const QUEUED = raw(queueForReadings({ id: "execution.id", workflow_id: "given.workflow_id", version: "execution.workflow_version" }));

/**
 * Builds the statement that inserts a run: one, and so one round trip, for the lock of its project, the hourly limit, its slot, its
 * delivery and what this process has done of it. The functions that count read after the lock is taken, with a snapshot of their own.
 * It inserts nothing when the limit is reached, or when the delivery or the run of that `due_at` is there already.
 */
export function insertStatement(write: InsertWrite): pg.QueryConfig {
  const { execution, begun, delivery } = write;
  const kind = kindOf(begun);
  const [isWhole, isLeased] = [kind === "whole", kind === "begun" || kind === "first"];
  const [hourlyPreset, hourlyMax] = hourlyValues();

  return named(
    `execution-insert-${kind}${delivery ? "-delivery" : ""}${begun?.texts ? "-texts" : ""}`,
    sql`
  WITH given AS NOT MATERIALIZED (
    SELECT ${write.id}::uuid AS id,
      ${execution.project_id}::uuid AS project_id,
      ${execution.workflow_id}::uuid AS workflow_id,
      ${cleanText(execution.input)}::text AS input,
      ${execution.isCounted ?? true}::boolean AS is_counted,
      ${hourlyPreset}::int AS hourly_preset,
      ${hourlyMax}::int AS hourly_max${begun ? begunValues(begun) : empty}
  ), allowed AS MATERIALIZED (
    SELECT ${HOURLY_LIMIT} AS hourly
    FROM given
    JOIN projects p ON p.id = given.project_id
    WHERE given.is_counted
  ), locked AS MATERIALIZED (
    ${isLeased ? LOCK_ALWAYS : LOCK_TO_COUNT}
  ), admission AS MATERIALIZED (
    SELECT coalesce((SELECT seconds_until_execution(given.project_id, hourly) FROM locked WHERE hourly > 0), 0) AS wait
      ${when(isLeased, sql`, (SELECT may_begin_run(given.project_id, ${begun?.slots}::int) FROM locked) AS has_slot`)}
    FROM given
  ), workflow AS MATERIALIZED (
    SELECT w.id
    FROM given
    JOIN workflows w ON w.id = given.workflow_id
    WHERE w.deleted_at IS NULL
    FOR KEY SHARE OF w${delivery ? writeDelivery(delivery) : empty}
  ), execution AS (
    INSERT INTO executions (
      ${COLUMNS[kind]})
    SELECT ${columnValues(write, kind)}
    FROM given, ${delivery ? sql`delivery` : sql`admission, workflow`}
    ${when(!delivery, sql`WHERE admission.wait = 0`)}
    ON CONFLICT (workflow_id, due_at) DO NOTHING
    RETURNING id, lease_owner, workflow_version
  ), valued_execution AS (
    INSERT INTO execution_values (execution_id, input, params, words ${when(isWhole, sql`, output, outputs`)})
    SELECT execution.id, given.input, ${write.params}::jsonb, array_to_tsvector(${write.words}::text[])
      ${when(isWhole, sql`, given.ending->>'output', given.ending->'outputs'`)}
    FROM execution, given${begun?.first ? writeFirst(isWhole, begun.texts) : empty}
  )
  SELECT admission.wait, EXISTS (SELECT FROM workflow) AS has_workflow, (SELECT hourly FROM allowed) AS hourly,
    execution.id AS execution_id, execution.lease_owner IS NOT NULL AS is_begun
    ${isWhole ? sql`, ${QUEUED}` : notifyWorkers()}
    ${kind === "first" ? sql`, ${readAgents(begun?.agent_ids ?? [])}` : empty}
  FROM given
  CROSS JOIN admission
  LEFT JOIN execution ON true`,
  );
}
