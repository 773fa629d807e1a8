import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import { settings } from "#server/platform/settings.ts";
import { logRunEnd } from "#server/runs/log-run-end.ts";
import type { Commit, RunState } from "#server/runs/ports.ts";
import type { ExecutionTrigger } from "#server/runs/schema.ts";
import type { FoundAgent } from "#server/runs/store/agent-json.ts";
import { formatEnding, formatEvents, formatRows } from "#server/runs/store/commit-json.ts";
import { type EarlierResults, giveResults } from "#server/runs/store/earlier-results.ts";
import { type BegunWrite, insertStatement } from "#server/runs/store/insert-statement.ts";
import { LongTexts } from "#server/runs/store/long-texts.ts";
import { wordsAtEnd, wordsAtStart } from "#server/runs/store/search-words.ts";
import { noteStored } from "#server/runs/store/space.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
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

/** True when an execution with the same id exists. */
export const isTakenId = (error: unknown): boolean =>
  error instanceof Error && "constraint" in error && error.constraint === "executions_pkey";

/** Formats what this process has done of a run. @param texts takes the long texts out */
function begunWrite({ run, first, asks = [] }: Begun, texts: LongTexts): BegunWrite {
  const written = first && {
    rows: formatRows(first.rows, texts),
    events: formatEvents(run, first.events, texts),
    ending: first.ending && formatEnding(first.ending, texts),
  };

  return {
    holder: run.holder,
    elapsed: Math.max(0, Date.now() - run.created_at.getTime()) / 1000,
    slots: settings().PROJECT_CONCURRENCY,
    first: written,
    agent_ids: asks.filter(isUuid),
    texts: texts.lists,
  };
}

/** Row of `insertStatement`. */
interface Inserted {
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
  const write = begun && texts ? begunWrite(begun, texts) : undefined;
  const params = execution.params && JSON.stringify(execution.params);
  const { rows: json, events, ending } = write?.first ?? {};
  const written = [execution.input, params, delivery?.body, write?.holder, json, events, ending];
  const bytes = written.reduce((sum, text) => sum + (text?.length ?? 0), texts?.length ?? 0);
  const statement = insertStatement({
    id: execution.id ?? newId(),
    execution,
    params,
    words: [...new Set([...wordsAtStart(execution), ...wordsAtEnd(begun?.first?.ending ?? {})])],
    bytes,
    delivery,
    begun: write,
  });

  const { rows } = await on.query<Inserted>(statement);
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
