/**
 * Tables of the embedded executor. Times are milliseconds since 1970 given by the caller's clock; only worker
 * liveness uses the database's own clock, because it is about processes and not about the time of the app.
 * JSON is kept as text: it goes through untouched and, unlike jsonb, may hold \u0000.
 */
export const TABLES_SQL = `
CREATE TABLE treadle_jobs.functions (
  id text PRIMARY KEY,
  app text NOT NULL,
  config text NOT NULL
);

CREATE TABLE treadle_jobs.crons (
  fn_id text NOT NULL,
  cron text NOT NULL,
  next_at bigint NOT NULL,
  PRIMARY KEY (fn_id, cron)
);

-- One row for each living executor; the session that serves it also holds the advisory lock (7414, id).
CREATE TABLE treadle_jobs.workers (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE treadle_jobs.events (
  id text PRIMARY KEY,
  name text NOT NULL,
  payload text NOT NULL,
  routed boolean NOT NULL,
  delete_at bigint NOT NULL
);
CREATE INDEX events_delete_at ON treadle_jobs.events (delete_at);
CREATE INDEX events_unrouted ON treadle_jobs.events (id) WHERE NOT routed;

-- Idempotency keys of functions.
CREATE TABLE treadle_jobs.keys (
  key text PRIMARY KEY,
  delete_at bigint NOT NULL
);
CREATE INDEX keys_delete_at ON treadle_jobs.keys (delete_at);

-- A run is its own job: due_at says when a driver must look at it, owner and epoch are the lease.
CREATE TABLE treadle_jobs.runs (
  id text PRIMARY KEY,
  fn_id text NOT NULL,
  event text NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  attempt int NOT NULL DEFAULT 0,
  crashes int NOT NULL DEFAULT 0,
  discover boolean NOT NULL DEFAULT false,
  due_at bigint,
  owner int,
  epoch int NOT NULL DEFAULT 0,
  slot1 text,
  limit1 int,
  slot2 text,
  limit2 int,
  blocked_on text,
  output text,
  created_at bigint NOT NULL,
  ended_at bigint
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX runs_due ON treadle_jobs.runs (due_at) WHERE owner IS NULL AND blocked_on IS NULL AND due_at IS NOT NULL;
CREATE INDEX runs_owner ON treadle_jobs.runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_slot1 ON treadle_jobs.runs (slot1) WHERE owner IS NOT NULL AND slot1 IS NOT NULL;
CREATE INDEX runs_slot2 ON treadle_jobs.runs (slot2) WHERE owner IS NOT NULL AND slot2 IS NOT NULL;
CREATE INDEX runs_blocked ON treadle_jobs.runs (blocked_on, due_at) WHERE blocked_on IS NOT NULL;
CREATE INDEX runs_ended ON treadle_jobs.runs (ended_at) WHERE ended_at IS NOT NULL;

-- state: planned (a step to call), sleep and wait are open; data and error are memoized in the order of seq.
CREATE TABLE treadle_jobs.steps (
  run_id text NOT NULL,
  id text NOT NULL,
  state text NOT NULL CHECK (state IN ('planned', 'sleep', 'wait', 'data', 'error')),
  attempt int NOT NULL DEFAULT 0,
  due_at bigint,
  race boolean NOT NULL DEFAULT false,
  data text,
  seq bigint,
  PRIMARY KEY (run_id, id)
);
CREATE INDEX steps_open ON treadle_jobs.steps (run_id) WHERE state IN ('planned', 'sleep', 'wait');
CREATE SEQUENCE treadle_jobs.step_seq;

-- What an event may do to a run: finish the step step_id, or (step_id null) cancel it.
-- key is "path=value" of one equality that must hold; exact means that nothing else must.
CREATE TABLE treadle_jobs.waits (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text NOT NULL,
  step_id text,
  event text NOT NULL,
  key text NOT NULL,
  exact boolean NOT NULL,
  expr text,
  until bigint
);
CREATE INDEX waits_key ON treadle_jobs.waits (event, key);
CREATE INDEX waits_loose ON treadle_jobs.waits (event) WHERE NOT exact;
CREATE INDEX waits_run ON treadle_jobs.waits (run_id);
`;
