import type pg from "pg";
import { cleanText } from "#server/platform/clean-text.ts";
import { pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import { settings } from "#server/platform/settings.ts";
import { dueIn, mustNotifyWorkers } from "#server/runs/local-worker.ts";
import { logRunEnd } from "#server/runs/log-run-end.ts";
import type { Commit, RunState } from "#server/runs/ports.ts";
import type { ExecutionTrigger } from "#server/runs/schema.ts";
import { AGENT_JSON, type FoundAgent } from "#server/runs/store/agent-json.ts";
import { firstValues, firstWrite } from "#server/runs/store/commit.ts";
import { type EarlierResults, giveResults } from "#server/runs/store/earlier-results.ts";
import { hourlyLimit, hourlyValues } from "#server/runs/store/limits.ts";
import { wordsAtEnd, wordsAtStart } from "#server/runs/store/search-words.ts";
import { noteStored } from "#server/runs/store/space.ts";
import { LEASE_SECONDS, NOW, projectLock, queueForReadings, TELL_DUE } from "#server/runs/store/sql.ts";
import { LongTexts } from "#server/runs/store/texts.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

export interface NewExecution {
  /** Left out, it gets one; a caller that follows the run from its beginning brings its own. */
  id?: string;
  project_id: string;
  workflow_id: string;
  workflow_version: number | null;
  snapshot_id: string;
  trigger: ExecutionTrigger;
  started_by_id: string | null;
  /** Key without the scope `read` that starts it, and so may see it. */
  started_by_key_id?: string | null;
  /** Message to the assistant whose allowance it spends from. */
  assistant_message_id?: string | null;
  input: string;
  params: Record<string, unknown> | null;
  /** Of the snapshot, when the caller has it at hand: the run then need not always wait for the executor. */
  graph?: Graph;
  /** What the graph's agents are called, when the caller has looked. */
  names?: NodeScope;
  /** `queued` for webhooks; `pending` unless given. */
  status?: "pending" | "queued";
  /** Of a schedule: the time that it was due. A workflow runs once for each. */
  due_at?: Date;
  /** The execution that it runs again. */
  rerun_of_id?: string | null;
  /** The node of another run that waits for it, and how deep that makes it. */
  parent?: { execution_id: string; node_id: string; depth: number };
  /** False for what a person tries in the web app: it spends nothing of the project's hour. */
  isCounted?: boolean;
}

/** What is written with an execution or not at all: the webhook's delivery, which also lets a repeated one in only once. */
export interface DeliveryOfExecution {
  id: string;
  delivery_key: string | null;
  body: string;
  /** Set for a delivery that could not start its run: the HTTP status of the response, and the reason. */
  refusal?: { status: number; error: string };
}

/** The agents that a run calls first, by their ids. */
export type AgentsAsked = Record<string, FoundAgent>;

/**
 * How it went: started, or nothing was written because the hour is used up or the same was started before. `isBegun`: this
 * process holds its lease, or it is over; else it waits for somebody who executes it.
 */
export type Started =
  | { kind: "started"; execution_id: string; isBegun: boolean; agents?: AgentsAsked }
  | { kind: "limited"; retryAfter: number; limit: number }
  | { kind: "repeated" };

/**
 * A run that this process began before it was written; written without what it has to write when its project has no place for it.
 * Without a holder: one that nobody begins, and is over.
 */
interface Begun {
  run: Pick<RunState, "id" | "created_at"> & { holder: string | null };
  /** What it has to write so far; with an ending it is over. */
  first?: Commit;
  /** Ids of the agents that it calls as soon as that is written. They are read with it. */
  asks?: readonly string[];
}

/** `begun`: under way here, and nothing done yet; `first`: with its first write; `whole`: that is its only one. */
type Kind = "new" | "begun" | "first" | "whole";

const askedAgents = (ids: string) => `(
      SELECT jsonb_object_agg(a.id, ${AGENT_JSON}) FROM agents a JOIN llm_keys k ON k.id = a.llm_key_id
      WHERE a.id = ANY(${ids}::uuid[]) AND a.project_id = $2::uuid) AS agents`;

// Of a run that is written whole, which is never one that was cancelled.
const QUEUED = queueForReadings({ id: "execution.id", workflow_id: "$3::uuid", version: "execution.workflow_version" });

/**
 * One statement, and so one round trip: the project's lock, the count (a function with a snapshot of its own, taken once
 * the lock is there), the delivery, the execution, and of a run that this process has begun what it has to write. Nothing
 * is written when the count says to wait, or when the delivery or the fire is there already.
 */
function statement(kind: Kind, hasDelivery: boolean, hasTexts: boolean) {
  let last = 22;
  const next = () => `$${++last}`;
  const isWhole = kind === "whole";
  // Of one that goes on after this: how soon to look for somebody who executes it, whether to tell others of it, and places.
  const [dueIn, mustTell] = isWhole ? [] : [next(), next()];
  const isBegun = kind === "begun" || kind === "first";
  const places = isBegun ? next() : undefined;
  const [holder, elapsed] = kind === "new" ? [] : [next(), next()];
  const [rows, events] = kind === "first" || isWhole ? [next(), next()] : [];
  const ending = isWhole ? `${next()}::jsonb` : undefined;
  const agents = kind === "first" ? next() : undefined;
  const texts: [string, string] | undefined = hasTexts ? [next(), next()] : undefined;
  const delivery = `delivery AS (
      INSERT INTO webhook_deliveries (id, workflow_id, execution_id, delivery_key, body, status, error)
      SELECT ${next()}::uuid, $3::uuid, $1::uuid, ${next()}, ${next()}, ${next()}::int, ${next()} FROM room, workflow WHERE wait = 0
      ON CONFLICT (workflow_id, delivery_key) DO NOTHING RETURNING id
    ),`;
  const hasPlace = "(SELECT has_place FROM room)";
  const ifBegun = (value: string, other = "NULL") => (isBegun ? `CASE WHEN ${hasPlace} THEN ${value} ELSE ${other} END` : value);
  const began = `now() - make_interval(secs => ${elapsed}::float8)`;
  const due = `${NOW} + make_interval(secs => ${dueIn}::float8)`;
  const status = `$10::"ExecutionStatus"`;
  const held = { lease_owner: ifBegun(`${holder}::text`), lease_epoch: ifBegun("1", "0"), created_at: began, started_at: ifBegun(began) };
  const written = { last_seq: ifBegun(`jsonb_array_length(${events}::jsonb)`, "0"), commit_no: ifBegun("1", "0") };
  const begun = {
    ...held,
    status: ifBegun(`'running'::"ExecutionStatus"`, status),
    lease_until: ifBegun(`now() + interval '${LEASE_SECONDS} seconds'`),
    run_at: ifBegun(`now() + interval '${LEASE_SECONDS} seconds'`, due),
  };
  const columns: Record<Kind, Record<string, string>> = {
    new: { status, run_at: due },
    begun,
    first: { ...begun, ...written },
    whole: {
      ...held,
      ...written,
      status: `coalesce(${ending}->>'status', $10)::"ExecutionStatus"`,
      started_at: `CASE WHEN ${holder}::text IS NOT NULL THEN ${began} END`,
      error: `${ending}->>'error'`,
      output_preview: `left(${ending}->>'output', ${PREVIEW_CHARACTERS})`,
      completed_at: "now()",
    },
  };
  const also = columns[kind];
  const values = isWhole ? `, ${ending}->>'output', ${ending}->'outputs'` : "";
  const lock = projectLock("$2::uuid");
  return {
    name: `execution-insert-${kind}${hasDelivery ? "-delivery" : ""}${hasTexts ? "-texts" : ""}`,
    text: `
    WITH allowed AS MATERIALIZED (SELECT ${hourlyLimit("$12::int", "$13::int")} AS hourly FROM projects p WHERE p.id = $2::uuid AND $14::boolean),
    locked AS MATERIALIZED (${isBegun ? `SELECT (SELECT hourly FROM allowed) AS hourly, ${lock}` : `SELECT hourly, ${lock} FROM allowed WHERE hourly > 0`}),
    room AS MATERIALIZED (SELECT
      coalesce((SELECT seconds_until_execution($2::uuid, hourly) FROM locked WHERE hourly > 0), 0) AS wait
      ${isBegun ? `, (SELECT may_begin_run($2::uuid, ${places}::int) FROM locked) AS has_place` : ""}),
    workflow AS MATERIALIZED (SELECT id FROM workflows WHERE id = $3::uuid AND deleted_at IS NULL FOR KEY SHARE),
    ${hasDelivery ? delivery : ""}
    execution AS (
      INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, trigger, started_by_id, input_preview, due_at, is_counted, bytes, rerun_of_id, parent_id, parent_node_id, depth, started_by_key_id, assistant_message_id,
        ${Object.keys(also).join(", ")})
      SELECT $1::uuid, $2::uuid, $3::uuid, $4::int, $5::uuid, $6, $7::uuid, left($8, ${PREVIEW_CHARACTERS}), $11::timestamptz, $14::boolean, $15::bigint, $16::uuid, $17::uuid, $18::text, $19::int, $21::uuid, $22::uuid,
        ${Object.values(also).join(", ")}
      FROM ${hasDelivery ? "delivery" : "room, workflow WHERE wait = 0"}
      ON CONFLICT (workflow_id, due_at) DO NOTHING RETURNING id, lease_owner, workflow_version
    ),
    kept AS (
      INSERT INTO execution_values (execution_id, input, params, words${values && ", output, outputs"}) SELECT id, $8, $9::jsonb, array_to_tsvector($20::text[])${values} FROM execution
    )${rows && events ? `, begun AS (SELECT id FROM execution${isWhole ? "" : " WHERE lease_owner IS NOT NULL"}), ${firstWrite(rows, events, texts)}` : ""}
    SELECT wait, EXISTS (SELECT FROM workflow) AS has_workflow, (SELECT hourly FROM allowed) AS hourly, execution.id AS execution_id, execution.lease_owner IS NOT NULL AS is_begun
      ${mustTell ? `, CASE WHEN ${mustTell}::boolean AND execution.id IS NOT NULL AND execution.lease_owner IS NULL THEN ${TELL_DUE} END` : ""}
      ${agents ? `, ${askedAgents(agents)}` : ""}${isWhole ? `, ${QUEUED}` : ""} FROM room LEFT JOIN execution ON true`,
  };
}

/** True when an execution with the same id exists. */
export const isTakenId = (error: unknown): boolean =>
  error instanceof Error && "constraint" in error && error.constraint === "executions_pkey";

const kinds = ["new", "begun", "first", "whole"] as const;
const byKind = (hasDelivery: boolean, hasTexts: boolean) =>
  Object.fromEntries(kinds.map((kind) => [kind, statement(kind, hasDelivery, hasTexts)]));
const ALONE = { short: byKind(false, false), long: byKind(false, true) };
const WITH_DELIVERY = { short: byKind(true, false), long: byKind(true, true) };

/** The values of what this process has begun. */
function begunValues({ run, first, asks = [] }: Begun, texts: LongTexts): unknown[] {
  const elapsed = Math.max(0, Date.now() - run.created_at.getTime()) / 1000;
  const written = first ? [...firstValues(run, first, texts), ...(first.ending ? [] : [asks.filter(isUuid)])] : [];
  const places = first?.ending ? [] : [settings().PROJECT_CONCURRENCY];
  return [...places, run.holder, elapsed, ...written, ...(texts.lists ?? [])];
}

const deliveryValues = ({ id, delivery_key, body, refusal }: DeliveryOfExecution): unknown[] => [
  id,
  delivery_key,
  body,
  refusal?.status ?? 202,
  refusal?.error ?? null,
];

function kindOf(begun: Begun | undefined): Kind {
  if (!begun) return "new";
  if (!begun.first) return "begun";
  return begun.first.ending ? "whole" : "first";
}

interface Written {
  wait: number;
  has_workflow: boolean;
  hourly: number | null;
  execution_id: string | null;
  is_begun: boolean;
  agents?: AgentsAsked | null;
}

interface Beside {
  /** The pool, or a client within a transaction: then the project's lock is held until that ends. */
  on?: Pick<pg.Pool, "query">;
  delivery?: DeliveryOfExecution | undefined;
  /** How far this process has come with it already. */
  begun?: Begun;
  /** What it has before it begins; within a transaction. */
  results?: EarlierResults;
}

/**
 * Writes a new execution if the project's hour has room, without asking anybody to run it yet. Requests of one project
 * queue up on a lock, so that together they never get past the limit. The workflow's row is locked FOR KEY SHARE: a deletion, which
 * locks it FOR UPDATE, comes before the execution or finds it.
 * @throws AppError NOT_FOUND when the workflow has been deleted
 */
export async function createExecution(execution: NewExecution, { on = pool(), delivery, begun, results }: Beside = {}): Promise<Started> {
  const texts = begun && new LongTexts(begun.run);
  const first = begun && texts ? begunValues(begun, texts) : [];
  const kind = kindOf(begun);
  const params = execution.params && JSON.stringify(execution.params);
  const written = [execution.input, params, delivery?.body, ...first];
  const bytes = written.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), texts?.length ?? 0);
  const values = [
    execution.id ?? newId(),
    execution.project_id,
    execution.workflow_id,
    execution.workflow_version,
    execution.snapshot_id,
    execution.trigger,
    execution.started_by_id,
    cleanText(execution.input),
    params,
    execution.status ?? "pending",
    execution.due_at ?? null,
    ...hourlyValues(),
    execution.isCounted ?? true,
    bytes,
    execution.rerun_of_id ?? null,
    execution.parent?.execution_id ?? null,
    execution.parent?.node_id ?? null,
    execution.parent?.depth ?? 1,
    [...new Set([...wordsAtStart(execution), ...wordsAtEnd(begun?.first?.ending ?? {})])],
    execution.started_by_key_id ?? null,
    execution.assistant_message_id ?? null,
    ...(kind === "whole" ? [] : [dueIn(), mustNotifyWorkers()]),
    ...first,
    ...(delivery ? deliveryValues(delivery) : []),
  ];
  const { name, text } = (delivery ? WITH_DELIVERY : ALONE)[texts?.lists ? "long" : "short"][kind] as ReturnType<typeof statement>;
  const { rows } = await on.query<Written>({ name, text, values });
  const [row] = rows;
  if (row && !row.has_workflow) throw notFound("workflow");
  if (!row?.execution_id) return row?.wait ? { kind: "limited", retryAfter: row.wait, limit: row.hourly ?? 0 } : { kind: "repeated" };
  const { execution_id, is_begun: isBegun, agents } = row;
  texts?.written();
  if (begun?.first?.ending)
    logRunEnd({
      execution_id,
      workflow_id: execution.workflow_id,
      status: begun.first.ending.status,
      duration_ms: Math.max(0, Date.now() - begun.run.created_at.getTime()),
      cost: 0,
    });
  const before = results ? await giveResults(on, execution_id, results) : 0;
  noteStored(execution.project_id, "runs", bytes + before);
  return { kind: "started", execution_id, isBegun, ...(agents && { agents }) };
}
