/**
 * The second version of `ingest`: the process that stores an event may lease the run that follows from it to itself, which
 * spares a notification and a claim. The first stays for processes of an older version beside this one.
 */
export const TAKE_SQL = `
-- Whether a new run may start at once, under the locks of its slots.
CREATE FUNCTION treadle_jobs.has_room(p_slot1 text, p_limit1 int, p_slot2 text, p_limit2 int) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7413, h.h)
     FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest(ARRAY[p_slot1, p_slot2]) x WHERE x IS NOT NULL ORDER BY 1) h;
  RETURN (p_slot1 IS NULL OR treadle_jobs.slot_used(p_slot1) < p_limit1) AND (p_slot2 IS NULL OR treadle_jobs.slot_used(p_slot2) < p_limit2);
END $$;

-- Stores events and everything that follows from them; p_events and p_decided as before.
-- p_owner: the worker that takes the first run that follows, if it may start at once; null leaves it to whoever claims it.
-- p_hint: the events only tell what is on the disk elsewhere, so a crash of the database may lose them.
-- Answers ok, stale (the registry is another one) or slow (evaluate first), and the run that was taken.
CREATE FUNCTION treadle_jobs.ingest(p_version bigint, p_now bigint, p_names text[], p_events json, p_decided bigint[], p_owner int,
  p_hint boolean, OUT answer text, OUT taken text)
LANGUAGE plpgsql AS $$
DECLARE e record; r record; v bigint; met bigint[]; woke boolean := false; mine boolean; taker int := p_owner;
BEGIN
  IF p_hint THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
  IF p_version = 0 THEN PERFORM pg_advisory_xact_lock_shared(7411, 2); END IF;
  -- Storing a wait takes the same lock exclusively: either this event sees the wait, or it was there before it.
  PERFORM pg_advisory_xact_lock_shared(7412, h.h) FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest(p_names) x ORDER BY 1) h;
  SELECT registry_version INTO v FROM treadle_jobs.meta;
  IF v <> p_version THEN answer := 'stale'; RETURN; END IF;
  IF p_decided IS NULL AND EXISTS (SELECT 1 FROM treadle_jobs.waits w WHERE w.event = ANY(p_names) AND NOT w.exact) THEN answer := 'slow'; RETURN; END IF;
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
      mine := taker IS NOT NULL AND r.due <= p_now AND EXISTS (SELECT 1 FROM treadle_jobs.workers w WHERE w.id = taker)
              AND treadle_jobs.has_room(r.s1, r.l1, r.s2, r.l2);
      INSERT INTO treadle_jobs.runs (id, fn_id, event, due_at, owner, epoch, created_at, slot1, limit1, slot2, limit2)
      VALUES (r.id, r.fn, e.payload, CASE WHEN NOT mine THEN r.due END, CASE WHEN mine THEN taker END, mine::int, p_now, r.s1, r.l1, r.s2, r.l2);
      IF mine THEN taken := r.id; taker := NULL;
      ELSE woke := true;
      END IF;
      IF r.cancels IS NOT NULL THEN
        INSERT INTO treadle_jobs.waits (run_id, event, key, exact, expr, until)
        SELECT r.id, c.event, c.key, c.exact, c.expr, c.until
          FROM json_to_recordset(r.cancels) AS c(event text, key text, exact boolean, expr text, until bigint);
      END IF;
    END LOOP;
  END LOOP;
  IF woke THEN PERFORM pg_notify('treadle_jobs', ''); END IF;
  answer := 'ok';
END $$;
`;

/** A later version of has_room: nobody overtakes runs that wait for the slot. */
export const FAIR_SQL = `
CREATE OR REPLACE FUNCTION treadle_jobs.has_room(p_slot1 text, p_limit1 int, p_slot2 text, p_limit2 int) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7413, h.h)
     FROM (SELECT DISTINCT hashtext(x) AS h FROM unnest(ARRAY[p_slot1, p_slot2]) x WHERE x IS NOT NULL ORDER BY 1) h;
  -- One equality each: with both in a list, all runs are gone through instead of the index of the few that wait.
  IF EXISTS (SELECT FROM treadle_jobs.runs b WHERE b.blocked_on = p_slot1) THEN RETURN false; END IF;
  IF EXISTS (SELECT FROM treadle_jobs.runs b WHERE b.blocked_on = p_slot2) THEN RETURN false; END IF;
  RETURN (p_slot1 IS NULL OR treadle_jobs.slot_used(p_slot1) < p_limit1) AND (p_slot2 IS NULL OR treadle_jobs.slot_used(p_slot2) < p_limit2);
END $$;
`;
