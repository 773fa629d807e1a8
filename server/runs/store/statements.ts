import { ITEM } from "#server/runs/ports.ts";
import { finalStatuses } from "#server/runs/schema.ts";
import { insertTexts, textOf } from "#server/runs/store/texts.ts";
import { LARGE_OUTPUT, PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

// The statements of server/runs/store/run-store.ts. Each is one round trip and one transaction.

/** How long a lease lasts without being renewed, in seconds. */
export const LEASE_SECONDS = 30;

/** The states in which a run has ended, as an SQL list. */
export const FINAL = `(${finalStatuses.map((status) => `'${status}'`).join(", ")})`;

/** Now, as a time that is kept: those are in whole milliseconds, and one that was rounded up would not be due yet. */
export const NOW = "date_trunc('milliseconds', now())";

/** Tells the processes that carry runs that one is due. */
export const TELL_DUE = "pg_notify('treadle_due', '')";

/** The lock of a project, under which its runs are counted: those of the last hour, and those that are carried. */
export const projectLock = (project_id: string) => `pg_advisory_xact_lock(hashtextextended('executions-per-hour:' || ${project_id}, 0))`;

/** Of a run that is carried, the lease and what follows from it. */
const LEASE = `lease_until = now() + interval '${LEASE_SECONDS} seconds', run_at = now() + interval '${LEASE_SECONDS} seconds'`;

/**
 * Takes the leases of runs. $1 begins the name of a lease, $2 is how many runs of one project may be carried at once.
 * @param project the projects of the runs, as a query: their locks are taken, so that no other claim comes in between
 * @param chosen the ids of the runs, as a query; it locks their rows. `room` has the places of the projects
 */
const claim = (project: string, chosen: string) => `
  -- Not waited for on the disk: losing it only means that the lease is taken again.
  WITH quiet AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)
  ), project AS MATERIALIZED (${project}
  ), locked AS MATERIALIZED (SELECT id, ${projectLock("id")} FROM (SELECT id FROM project ORDER BY id) AS p
  ), room AS MATERIALIZED (SELECT id, free_run_places(id, $2::int) AS places FROM locked
  ), ${chosen}
  ), claimed AS (
    UPDATE executions e SET
      -- A database that crashed may hand out an epoch again that somebody still holds; a name it never does.
      lease_owner = $1::text || '-' || e.id, lease_epoch = lease_epoch + 1, ${LEASE}, wake = false, commit_no = 0,
      -- Whoever had it before has not given it back.
      crashes = crashes + (lease_until IS NOT NULL)::int,
      -- A paused run stays so until somebody has decided: looking at it changes nothing.
      status = CASE WHEN status = 'paused' THEN status ELSE 'running' END, started_at = coalesce(started_at, now())
    FROM chosen, execution_values v, quiet WHERE e.id = chosen.id AND v.execution_id = e.id
    RETURNING e.id, e.project_id, e.status, e.lease_owner AS holder, e.lease_epoch, e.created_at, e.started_at, e.rerun_of_id, e.snapshot_id,
      e.workflow_version, e.crashes, v.input, v.params
  )`;

/** One run: $3, for the request $4 of an Inngest server. While none has been answered, whichever comes first is: an older one only waited longer in the queue. */
export const CLAIM = `${claim(
  "SELECT project_id AS id FROM executions WHERE id = $3",
  `chosen AS MATERIALIZED (
    SELECT e.id FROM room, executions e
    WHERE e.id = $3 AND room.places > 0 AND (lease_until IS NULL OR lease_until <= now()) AND status NOT IN ${FINAL}
      AND ($4::int IS NULL OR dispatch = $4 OR lease_epoch = 0)
    FOR UPDATE OF e`,
)}
  SELECT * FROM claimed`;

/** What it is with a run that could not be claimed. Whoever carries it is told to look again before it rests. */
export const BUSY = `
  -- One whose lease has run out since is looked for again soon.
  UPDATE executions SET wake = wake OR coalesce(lease_until > now(), false)
  WHERE id = $1 AND ($2::int IS NULL OR dispatch = $2 OR lease_epoch = 0) AND status NOT IN ${FINAL}
  RETURNING greatest(extract(epoch FROM lease_until - now()), 0)::float8 AS seconds`;

/**
 * Up to $4 runs that are due, those of projects that have fewest under way first, without those that this process carries as
 * $3. The projects are found by hops over the index, however many runs of one are due. `more`: there may be others.
 */
export const CLAIM_DUE = `${claim(
  `
    WITH RECURSIVE hop AS (
      (SELECT project_id AS id FROM executions WHERE run_at <= now() ORDER BY project_id LIMIT 1)
      UNION ALL
      SELECT (SELECT project_id FROM executions WHERE run_at <= now() AND project_id > hop.id ORDER BY project_id LIMIT 1)
      FROM hop WHERE hop.id IS NOT NULL
    ) SELECT id FROM hop WHERE id IS NOT NULL`,
  `due AS MATERIALIZED (
    SELECT d.id, d.run_at, room.id AS project_id, row_number() OVER (PARTITION BY room.id ORDER BY d.run_at) - room.places AS turn
    FROM room CROSS JOIN LATERAL (
      SELECT id, run_at FROM executions
      WHERE project_id = room.id AND run_at <= now() AND (lease_owner IS NULL OR lease_owner <> ALL($3::text[]))
      ORDER BY run_at LIMIT greatest(room.places, 0)
    ) AS d
  ), chosen AS MATERIALIZED (
    SELECT e.id FROM due JOIN executions e ON e.id = due.id WHERE e.run_at <= now()
    ORDER BY due.turn, due.run_at LIMIT $4 FOR UPDATE OF e SKIP LOCKED`,
)}
  SELECT claimed.*, (SELECT count(*) FROM due) > (SELECT count(*) FROM chosen)
    OR EXISTS (SELECT FROM room WHERE places <= (SELECT count(*) FROM due WHERE due.project_id = room.id)) AS more
  FROM (VALUES (1)) AS one LEFT JOIN claimed ON true`;

export const RENEW = `
  UPDATE executions SET ${LEASE} WHERE id = $1 AND lease_owner = $2 AND lease_until IS NOT NULL AND status NOT IN ${FINAL} RETURNING 1`;

/**
 * $5: whether it only waits, until $3; else it is looked at again in $4 seconds. $6: how many faults of ours to count. A lease
 * that was given back stays so: when the answer got lost and this is said again, the run may have become due meanwhile.
 */
export const RELEASE = `
  UPDATE executions SET lease_until = NULL, wake = false, crashes = crashes + $6::int,
    run_at = CASE WHEN wake THEN ${NOW} WHEN $5::boolean THEN $3::timestamptz ELSE ${NOW} + make_interval(secs => $4) END
  WHERE id = $1 AND lease_owner = $2 AND lease_until IS NOT NULL AND status NOT IN ${FINAL} RETURNING coalesce(run_at <= now(), false) AS is_due`;

const LEDGER_FIELDS = `r.id, r.node_id, r.iteration, r.attempt, r.status, r.handle, ${textOf("output")} AS output, r.error,
  r.started_at, r.completed_at, r.input_tokens, r.output_tokens, r.items, r.is_interrupted, r.is_cut_off, CASE WHEN r.status = 'running' THEN ${textOf("input")} END AS input`;
export const LEDGER = `
  SELECT ${LEDGER_FIELDS} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 ORDER BY r.completed_at NULLS LAST, r.id`;

// Of an iteration that has ended nothing is wanted: $2 says which loop's body a node belongs to. Said as a list to look up in and
// not as a join, which a planner that expects few rows would work through pair by pair; and never looked up for a node that is in
// no loop, since PostgreSQL goes through all of a list for a value that is null.
const notInEnded = (iteration: string) => `CASE WHEN $2::jsonb ? r.node_id THEN ($2::jsonb->>r.node_id, ${iteration}) NOT IN (
    SELECT ended.node_id, ended.iteration FROM node_runs ended
    WHERE ended.execution_id = $1 AND ended.handle = '${ITEM}') ELSE true END`;
export const LEDGER_WITH_LOOPS = `
  SELECT ${LEDGER_FIELDS} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.handle IS DISTINCT FROM '${ITEM}' AND ${notInEnded("r.iteration")}
  ORDER BY r.completed_at NULLS LAST, r.id`;
// Items end nearly in order, so a few spans stand for all of them.
export const ITEMS_ENDED = `
  SELECT node_id, path, complete, failed, "isStopped", ARRAY(SELECT ARRAY[lower(span), upper(span)] FROM unnest(ended) AS span) AS spans FROM (
    SELECT node_id, path, range_agg(int4range(index, index + 1)) AS ended, count(*) FILTER (WHERE status = 'complete')::int AS complete,
      count(*) FILTER (WHERE status = 'failed')::int AS failed, bool_or(status = 'skipped') AS "isStopped"
    FROM (
      SELECT r.node_id, r.status, regexp_replace(r.iteration, '\\.?[^.]*$', '') AS path, substring(r.iteration from '[^.]*$')::int AS index
      FROM node_runs r WHERE r.execution_id = $1 AND r.handle = '${ITEM}'
    ) AS r WHERE ${notInEnded("r.path")} GROUP BY node_id, path) AS loops`;
export const ITEMS = `
  SELECT r.iteration, r.status, ${textOf("output")} AS output, r.error FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = $2 AND r.handle = '${ITEM}' AND cardinality(string_to_array(r.iteration, '.')) = $3
    AND ($3 = 1 OR starts_with(r.iteration, $4 || '.'))`;
export const BODY_OUTPUTS = `
  SELECT r.node_id, r.iteration, ${textOf("output")} AS output FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = ANY($2) AND r.status = 'complete'`;

/** @param measure `octet_length`, which unpacks no text, or `length` */
const bodyOutputs = (measure: string) => `
  SELECT coalesce(sum(${measure}(${textOf("output")})), 0)::float8 AS kept FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = ANY($2) AND r.status = 'complete'`;
export const BODY_OUTPUTS_BYTES = bodyOutputs("octet_length");
export const BODY_OUTPUTS_LENGTH = bodyOutputs("length");

// What a run that waits writes besides: waits that begin, ends of waits taken, waits that nobody needs any more.
const WAITS = `
  ), opened AS (
    INSERT INTO waits (id, project_id, execution_id, node_id, iteration, reason, label, deadline, token_hash,
      title, description, display_value, notification_email)
    SELECT w.id, $15, $1, w.node_id, w.iteration, w.reason, w.label, w.deadline, decode(w.token_hash, 'hex'),
      coalesce(w.title, ''), coalesce(w.description, ''), coalesce(w.display_value, ''), w.notification_email
    FROM lease, jsonb_to_recordset($14::jsonb->'waits') AS w(
      id uuid, node_id text, iteration text, reason "WaitReason", label text, deadline timestamptz, token_hash text,
      title text, description text, display_value text, notification_email text)
  ), taken AS (
    UPDATE waits SET taken_at = now() FROM lease WHERE id IN (SELECT value::uuid FROM jsonb_array_elements_text($14::jsonb->'taken'))
  ), withdrawn AS (
    UPDATE waits SET status = 'withdrawn', resolved_at = now() FROM lease
    WHERE execution_id = $1 AND status = 'waiting' AND ($5::jsonb IS NOT NULL OR EXISTS (
      SELECT FROM jsonb_to_recordset($14::jsonb->'withdrawn') AS w(node_id text, iteration text)
      WHERE w.node_id = waits.node_id AND w.iteration = waits.iteration)) RETURNING id
  ), seen AS (
    UPDATE notifications SET read_at = now() WHERE kind = 'review' AND subject_id IN (SELECT id FROM withdrawn) AND read_at IS NULL`;

// What calls of models cost, of rows that bear the agent which made one. Each call is a row of its own, since calls that end
// side by side would wait for each other at a sum.
const CALLS = {
  counted: `
  ), counted AS MATERIALIZED (
    SELECT coalesce(sum((r->>'cost')::numeric), 0) AS cost, coalesce(bool_or(r->>'cost' IS NULL), false) AS is_partial
    FROM jsonb_array_elements($3::jsonb) AS r WHERE r->>'agent_id' IS NOT NULL`,
  added: `
      cost = e.cost + counted.cost, cost_is_partial = e.cost_is_partial OR counted.is_partial,`,
  used: `
  ), used AS (
    INSERT INTO usage_calls (id, project_id, day, source, workflow_id, agent_id, provider, model, input_tokens, output_tokens, cost)
    SELECT r.id, lease.project_id, (r.completed_at AT TIME ZONE 'UTC')::date, 'run', lease.workflow_id, r.agent_id, r.provider, r.model,
      r.input_tokens, r.output_tokens, r.cost
    FROM new_rows r, lease WHERE r.agent_id IS NOT NULL`,
};
const NO_CALLS = { counted: "", added: "", used: "" };

const ROW = `
      id uuid, node_id text, iteration text, attempt int, status "NodeStatus", handle text, error text, started_at timestamptz, completed_at timestamptz,
      duration_ms float8, model text, input_tokens int, output_tokens int, items int, is_interrupted boolean, is_cut_off boolean, input text, output text, tool_calls jsonb,
      input_hash text, output_hash text`;
const VALUES = "input, output, tool_calls, input_hash, output_hash";
const HAS_VALUES = "coalesce(input, output, input_hash, output_hash) IS NOT NULL";
const ROW_FIELDS =
  "id, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens, items";
const FLAGS = "is_interrupted, is_cut_off";
const FLAG_VALUES = "coalesce(is_interrupted, false), coalesce(is_cut_off, false)";

/**
 * Writes a run's rows and events beside its execution, for a run that has begun, or ended, when it is accepted. Nobody is
 * notified, since nobody can know of it yet.
 * @param rows and `events`: the parameters that hold them as JSON; they go to the one row of `begun`
 * @param texts the parameters that hold their long texts, if they have any
 */
export const firstWrite = (rows: string, events: string, texts?: [hashes: string, texts: string]): string => `
    new_rows AS MATERIALIZED (
      SELECT begun.id AS execution_id, r.* FROM begun, jsonb_to_recordset(${rows}::jsonb) AS r(${ROW})
    ), written AS (
      INSERT INTO node_runs (execution_id, ${ROW_FIELDS}, ${FLAGS}) SELECT execution_id, ${ROW_FIELDS}, ${FLAG_VALUES} FROM new_rows
    ), valued AS (
      INSERT INTO node_run_values (node_run_id, ${VALUES}) SELECT id, ${VALUES} FROM new_rows WHERE ${HAS_VALUES}
    ), told AS (
      INSERT INTO execution_events (execution_id, seq, type, node_id, data)
      SELECT begun.id, e.position, e.event->>'type', e.event->>'node_id', e.event
      FROM begun, jsonb_array_elements(${events}::jsonb) WITH ORDINALITY AS e(event, position)
    )${texts ? `, texts AS (${insertTexts("begun.id", "begun", ...texts)})` : ""}`;

/** `hasWaits`: that begin or end; `hasCalls`: of models; `hasTexts`: long ones. */
interface CommitKind {
  hasWaits: boolean;
  hasCalls: boolean;
  hasTexts: boolean;
}

// One statement, so that results, events and the end of a run are there together or not at all.
const commitSql = ({ hasWaits, hasCalls, hasTexts }: CommitKind) => {
  const calls = hasCalls ? CALLS : NO_CALLS;
  const first = hasWaits ? 16 : 14;
  const texts = `
  ), texts AS (${insertTexts("$1", "lease", `$${first}`, `$${first + 1}`)}`;
  return `
  WITH quiet AS MATERIALIZED (SELECT CASE WHEN $11::boolean THEN set_config('synchronous_commit', 'off', true) END${calls.counted}
  ), lease AS (
    UPDATE executions e SET${calls.added}
      last_seq = last_seq + jsonb_array_length($4::jsonb), commit_no = $9, bytes = bytes + $13::bigint,
      input_tokens = input_tokens + $6, output_tokens = output_tokens + $7,
      status = coalesce(($5::jsonb->>'status')::"ExecutionStatus", $10::"ExecutionStatus", status),
      error = coalesce($5::jsonb->>'error', error),
      output_preview = coalesce(left($5::jsonb->>'output', ${PREVIEW_CHARACTERS}), output_preview),
      completed_at = CASE WHEN $5::jsonb IS NULL THEN completed_at ELSE now() END,
      lease_until = CASE WHEN $5::jsonb IS NULL THEN lease_until END,
      run_at = CASE WHEN $5::jsonb IS NULL THEN run_at END,
      -- A node has ended: whatever stopped a process before was not the next one's fault.
      crashes = CASE WHEN crashes > 0 AND NOT jsonb_path_exists($3::jsonb, '$[*] ? (@.status != "running" && !(@.is_interrupted == true))') THEN crashes ELSE 0 END
    FROM quiet${hasCalls ? ", counted" : ""} WHERE id = $1 AND lease_owner = $2 AND commit_no = $9 - 1 AND status NOT IN ${FINAL}
    RETURNING last_seq - jsonb_array_length($4::jsonb) AS seq${hasCalls ? ", project_id, workflow_id" : ""}
  ), new_rows AS (
    SELECT r.* FROM lease, jsonb_to_recordset($3::jsonb) AS r(${ROW}${hasCalls ? ", agent_id uuid, provider text, cost numeric, cached_tokens int" : ""})
  ), written AS (
    INSERT INTO node_runs (execution_id, ${ROW_FIELDS}, ${FLAGS}${hasCalls ? ", cost, cached_tokens" : ""})
    SELECT $1, ${ROW_FIELDS}, ${FLAG_VALUES}${hasCalls ? ", cost, coalesce(cached_tokens, 0)" : ""} FROM new_rows
    ON CONFLICT (execution_id, node_id, iteration, attempt) DO UPDATE SET
      status = excluded.status, handle = excluded.handle, error = excluded.error, completed_at = excluded.completed_at, duration_ms = excluded.duration_ms,
      is_interrupted = excluded.is_interrupted, is_cut_off = excluded.is_cut_off,
      model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens${hasCalls ? ", cost = excluded.cost, cached_tokens = excluded.cached_tokens" : ""}
  ), valued AS (
    INSERT INTO node_run_values (node_run_id, ${VALUES}) SELECT id, ${VALUES} FROM new_rows WHERE ${HAS_VALUES}
    ON CONFLICT (node_run_id) DO UPDATE SET output = excluded.output, output_hash = excluded.output_hash, tool_calls = excluded.tool_calls
  ), told AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT $1, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, jsonb_array_elements($4::jsonb) WITH ORDINALITY AS e(event, position)
  ), dropped AS (
    DELETE FROM execution_events WHERE execution_id = $1 AND cardinality($8::text[]) > 0 AND seq > $12 AND type = 'node_delta'
      AND EXISTS (SELECT FROM lease) AND concat(data->>'iteration', ' ', node_id) = ANY($8)
  ), result AS (
    UPDATE execution_values SET output = $5::jsonb->>'output', outputs = $5::jsonb->'outputs' WHERE execution_id = $1 AND $5::jsonb IS NOT NULL AND EXISTS (SELECT FROM lease)${calls.used}${hasWaits ? WAITS : ""}${hasTexts ? texts : ""}
  )
  SELECT seq, pg_notify('treadle_execution', $1::text) FROM lease`;
};

const statements = new Map<string, { name: string; text: string }>();

/** The statement that writes what has happened in a run, by what that holds besides rows and events. */
export function commitStatement(kind: CommitKind): { name: string; text: string } {
  const name = `run-commit${kind.hasWaits ? "-waits" : ""}${kind.hasCalls ? "-calls" : ""}${kind.hasTexts ? "-texts" : ""}`;
  const known = statements.get(name) ?? { name, text: commitSql(kind) };
  statements.set(name, known);
  return known;
}

/** Counts calls that were cut off: on their rows, which somebody else has closed by now, in the run and in the usage. */
export const SPENT = `
  -- Locked first, as every other write of a run does.
  WITH run AS MATERIALIZED (SELECT id, project_id, workflow_id FROM executions WHERE id = $1 FOR UPDATE
  ), marked AS (
    UPDATE node_runs n SET model = s.model, input_tokens = s.input_tokens, cached_tokens = coalesce(s.cached_tokens, 0),
      output_tokens = s.output_tokens, cost = s.cost
    FROM run, jsonb_to_recordset($2::jsonb) AS s(
      id uuid, agent_id uuid, provider text, model text, input_tokens int, cached_tokens int, output_tokens int, cost numeric, tool_calls jsonb)
    WHERE n.id = s.id AND n.execution_id = run.id AND n.model IS NULL AND n.status NOT IN ('running', 'waiting')
    RETURNING s.*, coalesce(n.completed_at, now()) AS completed_at
  ), valued AS (
    UPDATE node_run_values v SET tool_calls = marked.tool_calls FROM marked WHERE v.node_run_id = marked.id
  ), used AS (
    INSERT INTO usage_calls (id, project_id, day, source, workflow_id, agent_id, provider, model, input_tokens, output_tokens, cost)
    SELECT m.id, run.project_id, (m.completed_at AT TIME ZONE 'UTC')::date, 'run', run.workflow_id, m.agent_id, m.provider, m.model,
      m.input_tokens, m.output_tokens, m.cost
    FROM marked m, run
  )
  UPDATE executions e SET input_tokens = e.input_tokens + sums.input, output_tokens = e.output_tokens + sums.output,
    cost = e.cost + sums.cost, cost_is_partial = e.cost_is_partial OR sums.is_partial
  FROM (SELECT sum(input_tokens)::int AS input, sum(output_tokens)::int AS output, coalesce(sum(cost), 0) AS cost,
      bool_or(cost IS NULL) AS is_partial FROM marked HAVING count(*) > 0) AS sums
  WHERE e.id = $1`;

export const DELTAS = `
  WITH lease AS (
    UPDATE executions SET last_seq = last_seq + jsonb_array_length($3::jsonb)
    WHERE id = $1 AND lease_owner = $2 AND status NOT IN ${FINAL}
    RETURNING last_seq - jsonb_array_length($3::jsonb) AS seq
  ), told AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT $1, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, jsonb_array_elements($3::jsonb) WITH ORDINALITY AS e(event, position)
  )
  SELECT pg_notify('treadle_execution', $1::text) FROM lease`;

export const WAIT_STATES = `
  -- Viewers are told again of one that is open, and of a larger text no more than its beginning: of others nothing is read.
  SELECT id, node_id, iteration, status, outcome, deadline,
    CASE WHEN is_told THEN left(CASE reason WHEN 'review' THEN title ELSE label END, ${LARGE_OUTPUT + 1}) END AS title,
    CASE WHEN is_told THEN left(display_value, ${LARGE_OUTPUT + 1}) END AS display_value
  FROM (SELECT *, status = 'waiting' AND row_number() OVER (PARTITION BY status ORDER BY id) = 1 AS is_told FROM waits
  WHERE execution_id = $1 AND (status = 'waiting' OR (status IN ('resolved', 'expired') AND taken_at IS NULL))) AS open
  ORDER BY resolved_at NULLS LAST, id`;
