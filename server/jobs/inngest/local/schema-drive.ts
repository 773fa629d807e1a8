/** SQL functions that executors use: claim runs, write what a call of the handler brought, stay alive. */
export const DRIVE_SQL = `
-- Leases due runs to a worker. The last row has no id and tells when the next run or cron is due.
CREATE FUNCTION treadle_jobs.claim(p_owner int, p_fns text[], p_now bigint, p_limit int)
RETURNS TABLE (id text, fn_id text, event text, attempt int, crashes int, epoch int, discover boolean, steps json, next_due float8)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; ids text[]; blocked text; taken int := 0;
BEGIN
  IF p_limit > 0 AND EXISTS (SELECT 1 FROM treadle_jobs.workers w WHERE w.id = p_owner) THEN
    -- A claim that a crash of the database undoes is made again, at worst beside the driver of the first one, with its
    -- epoch: functions bear being driven twice, since steps run at least once anyway.
    PERFORM set_config('synchronous_commit', 'off', true);
    ids := ARRAY(SELECT c.id FROM treadle_jobs.runs c
                  WHERE c.owner IS NULL AND c.blocked_on IS NULL AND c.due_at <= p_now AND c.fn_id = ANY(p_fns)
                  ORDER BY c.due_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
    IF cardinality(ids) > 0 THEN
      PERFORM pg_advisory_xact_lock(7413, h.h)
         FROM (SELECT DISTINCT hashtext(x) AS h FROM treadle_jobs.runs c CROSS JOIN LATERAL (VALUES (c.slot1), (c.slot2)) AS v(x)
                WHERE c.id = ANY(ids) AND x IS NOT NULL ORDER BY 1) h;
      FOR r IN SELECT c.* FROM treadle_jobs.runs c WHERE c.id = ANY(ids) ORDER BY c.due_at, c.id LOOP
        blocked := NULL;
        IF r.slot1 IS NOT NULL AND treadle_jobs.slot_used(r.slot1) >= r.limit1 THEN blocked := r.slot1;
        ELSIF r.slot2 IS NOT NULL AND treadle_jobs.slot_used(r.slot2) >= r.limit2 THEN blocked := r.slot2;
        END IF;
        IF blocked IS NOT NULL THEN
          UPDATE treadle_jobs.runs c SET blocked_on = blocked WHERE c.id = r.id;
          CONTINUE;
        END IF;
        UPDATE treadle_jobs.runs c SET owner = p_owner, epoch = r.epoch + 1, due_at = NULL WHERE c.id = r.id;
        taken := taken + 1;
        WITH over AS (
          UPDATE treadle_jobs.steps s SET state = 'data', data = 'null', due_at = NULL, seq = nextval('treadle_jobs.step_seq')
           WHERE s.run_id = r.id AND s.state IN ('sleep', 'wait') AND s.due_at <= p_now RETURNING s.id, s.race)
        , gone AS (DELETE FROM treadle_jobs.waits w USING over WHERE w.run_id = r.id AND w.step_id = over.id)
        SELECT bool_or(over.race) INTO discover FROM over;
        id := r.id; fn_id := r.fn_id; event := r.event; attempt := r.attempt; crashes := r.crashes; epoch := r.epoch + 1;
        discover := r.discover OR coalesce(discover, false);
        SELECT json_agg(json_build_array(s.id, s.state, s.data, s.attempt, s.due_at, s.race, s.seq) ORDER BY s.seq) INTO steps
          FROM treadle_jobs.steps s WHERE s.run_id = r.id;
        RETURN NEXT;
      END LOOP;
    END IF;
  END IF;
  id := NULL; fn_id := NULL; event := NULL; steps := NULL;
  -- Ids found but none taken: all were blocked, so others may be behind them.
  next_due := CASE WHEN taken < cardinality(ids) THEN p_now ELSE least(
    (SELECT c.due_at FROM treadle_jobs.runs c
      WHERE c.owner IS NULL AND c.blocked_on IS NULL AND c.due_at IS NOT NULL AND c.fn_id = ANY(p_fns) ORDER BY c.due_at LIMIT 1),
    (SELECT min(t.next_at) FROM treadle_jobs.crons t WHERE t.fn_id = ANY(p_fns))) END;
  RETURN NEXT;
END $$;

-- Writes what a call brought, if the caller still holds the lease; else answers lost and writes nothing.
-- p_mode: keep (go on), release (let go until something is due), retry (let go until p_due with p_attempt), completed, failed.
-- p_ops: [{id, state, data, attempt, due, race, event, key, exact, expr}]; p_names: events of the waits among them.
-- In mode keep, steps are all that is open and what was memoized after p_seq.
CREATE FUNCTION treadle_jobs.apply(p_run text, p_owner int, p_epoch int, p_now bigint, p_mode text, p_discovered boolean, p_seq bigint,
  p_ops json, p_names text[], p_due bigint, p_attempt int, p_output text)
RETURNS TABLE (status text, next_due float8, steps json, discover boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE r record; o record; disc boolean; due bigint;
BEGIN
  -- The log keeps its order, so a crash of the database at worst takes the run back to an earlier state, from which it is
  -- driven again; events, which nobody would send again, are not written so. The slots' lock is held much shorter.
  PERFORM set_config('synchronous_commit', 'off', true);
  IF p_names IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(7412, h.h) FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest(p_names) x ORDER BY 1) h;
  END IF;
  SELECT c.owner, c.epoch, c.status, c.attempt, c.crashes, c.discover, c.slot1, c.slot2 INTO r
    FROM treadle_jobs.runs c WHERE c.id = p_run FOR UPDATE;
  IF NOT FOUND OR r.owner IS DISTINCT FROM p_owner OR r.epoch <> p_epoch OR r.status <> 'running' THEN
    status := 'lost'; RETURN NEXT; RETURN;
  END IF;
  disc := r.discover AND NOT p_discovered;
  -- Of a run that ends nobody reads its last steps again.
  IF p_ops IS NOT NULL AND p_mode NOT IN ('completed', 'failed') THEN
    FOR o IN SELECT * FROM json_to_recordset(p_ops) AS x(id text, state text, data text, attempt int, due bigint, race boolean,
                                                        event text, key text, exact boolean, expr text) LOOP
      IF o.state IN ('data', 'error') THEN
        INSERT INTO treadle_jobs.steps AS s (run_id, id, state, data, seq) VALUES (p_run, o.id, o.state, o.data, nextval('treadle_jobs.step_seq'))
        ON CONFLICT (run_id, id) DO UPDATE SET state = excluded.state, data = excluded.data, seq = excluded.seq, due_at = NULL
          WHERE s.state NOT IN ('data', 'error');
        disc := disc OR coalesce(o.race, false);
      ELSIF o.state = 'planned' THEN
        INSERT INTO treadle_jobs.steps AS s (run_id, id, state, attempt, due_at, race) VALUES (p_run, o.id, 'planned', o.attempt, o.due, o.race)
        ON CONFLICT (run_id, id) DO UPDATE SET attempt = excluded.attempt, due_at = excluded.due_at
          WHERE s.state = 'planned' AND excluded.attempt > s.attempt;
      ELSE
        INSERT INTO treadle_jobs.steps (run_id, id, state, due_at, race) VALUES (p_run, o.id, o.state, o.due, o.race) ON CONFLICT DO NOTHING;
        IF FOUND AND o.state = 'wait' THEN
          INSERT INTO treadle_jobs.waits (run_id, step_id, event, key, exact, expr, until)
          VALUES (p_run, o.id, o.event, o.key, o.exact, o.expr, o.due);
        END IF;
      END IF;
    END LOOP;
  END IF;
  IF p_mode = 'keep' THEN
    IF r.crashes <> 0 OR r.discover <> disc OR (p_discovered AND r.attempt <> 0) THEN
      UPDATE treadle_jobs.runs c SET crashes = 0, discover = disc, attempt = CASE WHEN p_discovered THEN 0 ELSE r.attempt END WHERE c.id = p_run;
    END IF;
    IF p_seq IS NOT NULL THEN
      SELECT coalesce(json_agg(json_build_array(s.id, s.state, s.data, s.attempt, s.due_at, s.race, s.seq) ORDER BY s.seq), '[]') INTO steps
        FROM treadle_jobs.steps s WHERE s.run_id = p_run AND (s.seq IS NULL OR s.seq > p_seq);
    END IF;
  ELSIF p_mode IN ('release', 'retry') THEN
    due := CASE WHEN p_mode = 'retry' THEN p_due ELSE treadle_jobs.next_due(p_run, disc, p_now) END;
    UPDATE treadle_jobs.runs c SET owner = NULL, due_at = due, crashes = 0, discover = disc OR p_mode = 'retry',
           attempt = CASE WHEN p_mode = 'retry' THEN p_attempt WHEN p_discovered THEN 0 ELSE r.attempt END
     WHERE c.id = p_run;
    PERFORM treadle_jobs.free_slots(r.slot1, r.slot2);
  ELSE
    PERFORM treadle_jobs.end_run(p_run, p_mode, p_output, p_now, true, r.slot1, r.slot2);
  END IF;
  status := 'ok'; next_due := due; discover := disc;
  RETURN NEXT;
END $$;

-- Says that a worker lives and frees what dead ones held: those silent for 10 s, and those of p_suspects (seen without
-- their lock by the caller a second ago) whose lock is still free. Answers the workers that are suspect now.
CREATE FUNCTION treadle_jobs.heartbeat(p_owner int, p_now bigint, p_suspects int[])
RETURNS TABLE (alive boolean, suspects int[], freed int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE w record; k record; dead int[] := '{}'; moved int := 0;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE treadle_jobs.workers SET seen_at = clock_timestamp() WHERE id = p_owner;
  alive := FOUND; suspects := '{}'; freed := 0;
  FOR w IN SELECT id, seen_at < clock_timestamp() - interval '10 seconds' AS silent FROM treadle_jobs.workers WHERE id <> p_owner LOOP
    IF w.silent THEN dead := dead || w.id;
    ELSIF pg_try_advisory_xact_lock(7414, w.id) THEN
      IF w.id = ANY(p_suspects) THEN dead := dead || w.id; ELSE suspects := suspects || w.id; END IF;
    END IF;
  END LOOP;
  IF cardinality(dead) > 0 THEN DELETE FROM treadle_jobs.workers WHERE id = ANY(dead); END IF;
  UPDATE treadle_jobs.runs SET owner = NULL, epoch = epoch + 1, crashes = crashes + 1, due_at = p_now
   WHERE id IN (SELECT c.id FROM treadle_jobs.runs c WHERE c.owner IS NOT NULL
                   AND NOT EXISTS (SELECT 1 FROM treadle_jobs.workers x WHERE x.id = c.owner) ORDER BY c.id FOR UPDATE);
  GET DIAGNOSTICS freed = ROW_COUNT;
  -- A run that waits for a slot nobody will free.
  FOR k IN SELECT b.blocked_on AS slot, max(CASE WHEN b.slot1 = b.blocked_on THEN b.limit1 ELSE b.limit2 END) AS cap
             FROM treadle_jobs.runs b WHERE b.blocked_on IS NOT NULL GROUP BY 1 LOOP
    UPDATE treadle_jobs.runs SET blocked_on = NULL WHERE id IN
      (SELECT b.id FROM treadle_jobs.runs b WHERE b.blocked_on = k.slot ORDER BY b.due_at
        LIMIT greatest(k.cap - treadle_jobs.slot_used(k.slot), 0) FOR UPDATE SKIP LOCKED);
    IF FOUND THEN moved := moved + 1; END IF;
  END LOOP;
  IF freed + moved > 0 THEN PERFORM pg_notify('treadle_jobs', ''); END IF;
  RETURN NEXT;
END $$;

-- Frees what a worker holds by the tables but does not drive: the answer to its claim was lost, or driving failed.
CREATE FUNCTION treadle_jobs.disown(p_owner int, p_driven text[], p_now bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE given int;
BEGIN
  UPDATE treadle_jobs.runs SET owner = NULL, epoch = epoch + 1, crashes = crashes + 1, due_at = p_now
   WHERE owner = p_owner AND id <> ALL(p_driven);
  GET DIAGNOSTICS given = ROW_COUNT;
  RETURN given;
END $$;

-- A worker that ends gives everything back at once.
CREATE FUNCTION treadle_jobs.resign(p_owner int, p_now bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE given int;
BEGIN
  DELETE FROM treadle_jobs.workers WHERE id = p_owner;
  UPDATE treadle_jobs.runs SET owner = NULL, epoch = epoch + 1, due_at = p_now WHERE owner = p_owner;
  GET DIAGNOSTICS given = ROW_COUNT;
  IF given > 0 THEN PERFORM pg_notify('treadle_jobs', ''); END IF;
  RETURN given;
END $$;
`;
