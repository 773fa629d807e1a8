-- Whether others have waited longer is read off the first entry of the index. Asked with EXISTS, PostgreSQL took another index of
-- the project as long as it knew nothing of the table, and read all of its runs to find that none is due.
CREATE OR REPLACE FUNCTION may_begin_run(project uuid, most integer) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT free_run_places(project, most) > 0
    AND coalesce((SELECT run_at FROM executions WHERE project_id = project AND run_at IS NOT NULL ORDER BY run_at LIMIT 1) > now(), true)
$$;
