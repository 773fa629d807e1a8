-- A new run begins where it is accepted when there are places for all that are due and for it. That none was due at all was asked
-- until now: then one run that had to wait made all later ones wait, and runs that wait cost more, so that a busy project stayed so.
-- No more than the first are looked at, in the order of the index (see 20261123121000_first_due_run).
CREATE OR REPLACE FUNCTION may_begin_run(project uuid, most integer) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT free_run_places(project, most) > (
    SELECT count(*) FROM (
      SELECT FROM executions WHERE project_id = project AND run_at IS NOT NULL AND run_at <= now() ORDER BY run_at LIMIT most
    ) AS due)
$$;
