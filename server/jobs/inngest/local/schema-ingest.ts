/**
 * SQL functions that events go through. Lock order everywhere: event names (7412), run rows in order of id,
 * slots (7413). Each function is one round trip and one transaction.
 */
export const INGEST_SQL = `
-- When the run must be looked at next: now when nothing is open, else when the first open thing is due.
CREATE FUNCTION treadle_jobs.next_due(p_run text, p_discover boolean, p_now bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE first bigint; open bigint;
BEGIN
  IF p_discover THEN RETURN p_now; END IF;
  SELECT min(s.due_at), count(*) INTO first, open FROM treadle_jobs.steps s
   WHERE s.run_id = p_run AND s.state IN ('planned', 'sleep', 'wait');
  IF open = 0 THEN RETURN p_now; END IF;
  RETURN first;
END $$;

CREATE FUNCTION treadle_jobs.slot_used(p_slot text) RETURNS bigint
LANGUAGE sql AS $$
  SELECT (SELECT count(*) FROM treadle_jobs.runs WHERE slot1 = p_slot AND owner IS NOT NULL)
       + (SELECT count(*) FROM treadle_jobs.runs WHERE slot2 = p_slot AND owner IS NOT NULL)
$$;

-- Lets the oldest run that waits for each slot try again. Call it after the lease that used them was given up.
CREATE FUNCTION treadle_jobs.free_slots(p_slot1 text, p_slot2 text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE woke boolean := false; slot text;
BEGIN
  IF p_slot1 IS NULL AND p_slot2 IS NULL THEN RETURN false; END IF;
  PERFORM pg_advisory_xact_lock(7413, h.h)
     FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest(ARRAY[p_slot1, p_slot2]) x WHERE x IS NOT NULL ORDER BY 1) h;
  FOREACH slot IN ARRAY ARRAY[p_slot1, p_slot2] LOOP
    CONTINUE WHEN slot IS NULL;
    UPDATE treadle_jobs.runs SET blocked_on = NULL WHERE id =
      (SELECT b.id FROM treadle_jobs.runs b WHERE b.blocked_on = slot ORDER BY b.due_at LIMIT 1 FOR UPDATE SKIP LOCKED);
    woke := woke OR FOUND;
  END LOOP;
  IF woke THEN PERFORM pg_notify('treadle_jobs', ''); END IF;
  RETURN woke;
END $$;

-- Ends a run whose row the caller has locked.
CREATE FUNCTION treadle_jobs.end_run(p_run text, p_status text, p_output text, p_now bigint, p_held boolean, p_slot1 text, p_slot2 text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE treadle_jobs.runs SET status = p_status, output = p_output, ended_at = p_now, owner = NULL, due_at = NULL, blocked_on = NULL
   WHERE id = p_run;
  DELETE FROM treadle_jobs.waits WHERE run_id = p_run;
  IF p_held THEN RETURN treadle_jobs.free_slots(p_slot1, p_slot2); END IF;
  RETURN false;
END $$;

-- An event has met these waits: finish their steps or cancel their runs.
CREATE FUNCTION treadle_jobs.meet(p_waits bigint[], p_payload text, p_now bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE w record; r record; raced boolean; woke boolean := false;
BEGIN
  FOR w IN SELECT id, run_id, step_id FROM treadle_jobs.waits WHERE id = ANY(p_waits) ORDER BY run_id, id LOOP
    SELECT status, owner, discover, slot1, slot2 INTO r FROM treadle_jobs.runs WHERE id = w.run_id FOR UPDATE;
    CONTINUE WHEN NOT FOUND OR r.status <> 'running';
    DELETE FROM treadle_jobs.waits WHERE id = w.id;
    CONTINUE WHEN NOT FOUND;
    IF w.step_id IS NULL THEN
      PERFORM treadle_jobs.end_run(w.run_id, 'cancelled', NULL, p_now, r.owner IS NOT NULL, r.slot1, r.slot2);
    ELSE
      UPDATE treadle_jobs.steps SET state = 'data', data = p_payload, due_at = NULL, seq = nextval('treadle_jobs.step_seq')
       WHERE run_id = w.run_id AND id = w.step_id AND state = 'wait' RETURNING race INTO raced;
      CONTINUE WHEN NOT FOUND;
      raced := raced OR r.discover;
      -- A driver that holds the run finds out for itself when it lets go.
      UPDATE treadle_jobs.runs SET discover = raced,
             due_at = CASE WHEN r.owner IS NULL THEN treadle_jobs.next_due(w.run_id, raced, p_now) END
       WHERE id = w.run_id;
      woke := true;
    END IF;
  END LOOP;
  RETURN woke;
END $$;

-- Stores events and everything that follows from them.
-- p_events: [{id, name, payload, ttl, keys: [..], runs: [{id, fn, idem, due, s1, l1, s2, l2, cancels: [{event, key, exact, expr, until}]}]}]
-- p_decided: waits that the caller has evaluated as met; null asks to be told when there are any to evaluate.
-- Answers ok, stale (the registry is another one) or slow (evaluate first); then nothing was written.
CREATE FUNCTION treadle_jobs.ingest(p_version bigint, p_now bigint, p_names text[], p_events json, p_decided bigint[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE e record; r record; v bigint; met bigint[]; woke boolean := false;
BEGIN
  IF p_version = 0 THEN PERFORM pg_advisory_xact_lock_shared(7411, 2); END IF;
  -- Storing a wait takes the same lock exclusively: either this event sees the wait, or it was there before it.
  PERFORM pg_advisory_xact_lock_shared(7412, h.h) FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest(p_names) x ORDER BY 1) h;
  SELECT registry_version INTO v FROM treadle_jobs.meta;
  IF v <> p_version THEN RETURN 'stale'; END IF;
  IF p_decided IS NULL AND EXISTS (SELECT 1 FROM treadle_jobs.waits w WHERE w.event = ANY(p_names) AND NOT w.exact) THEN RETURN 'slow'; END IF;
  FOR e IN SELECT * FROM json_to_recordset(p_events) AS x(id text, name text, payload text, ttl bigint, keys json, runs json) LOOP
    INSERT INTO treadle_jobs.events (id, name, payload, routed, delete_at)
    VALUES (e.id, e.name, e.payload, p_version > 0, p_now + e.ttl) ON CONFLICT (id) DO NOTHING;
    CONTINUE WHEN NOT FOUND;
    SELECT array_agg(w.id) INTO met FROM treadle_jobs.waits w
     WHERE w.event = e.name AND w.exact AND w.key = ANY(ARRAY(SELECT json_array_elements_text(e.keys)))
       AND (w.until IS NULL OR w.until > p_now);
    met := met || p_decided;
    IF met IS NOT NULL THEN woke := treadle_jobs.meet(met, e.payload, p_now) OR woke; END IF;
    CONTINUE WHEN e.runs IS NULL;
    FOR r IN SELECT * FROM json_to_recordset(e.runs)
              AS x(id text, fn text, idem text, due bigint, s1 text, l1 int, s2 text, l2 int, cancels json) LOOP
      IF r.idem IS NOT NULL THEN
        INSERT INTO treadle_jobs.keys AS k (key, delete_at) VALUES (r.idem, p_now + 86400000)
        ON CONFLICT (key) DO UPDATE SET delete_at = excluded.delete_at WHERE k.delete_at <= p_now;
        CONTINUE WHEN NOT FOUND;
      END IF;
      INSERT INTO treadle_jobs.runs (id, fn_id, event, due_at, created_at, slot1, limit1, slot2, limit2)
      VALUES (r.id, r.fn, e.payload, r.due, p_now, r.s1, r.l1, r.s2, r.l2);
      woke := true;
      IF r.cancels IS NOT NULL THEN
        INSERT INTO treadle_jobs.waits (run_id, event, key, exact, expr, until)
        SELECT r.id, c.event, c.key, c.exact, c.expr, c.until
          FROM json_to_recordset(r.cancels) AS c(event text, key text, exact boolean, expr text, until bigint);
      END IF;
    END LOOP;
  END LOOP;
  IF woke THEN PERFORM pg_notify('treadle_jobs', ''); END IF;
  RETURN 'ok';
END $$;
`;
