-- The limit of executions in an hour that a project sets itself. Null takes that of the install.
ALTER TABLE "projects" ADD COLUMN "executions_per_hour" INTEGER;

-- Whether an execution spends the hour. Drafts and reruns of a person in the web app do not.
ALTER TABLE "executions" ADD COLUMN "is_counted" BOOLEAN NOT NULL DEFAULT true;

CREATE OR REPLACE FUNCTION seconds_until_execution(project uuid, hourly integer) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN count(*) < hourly THEN 0 ELSE greatest(1, ceil(extract(epoch FROM min(created_at) + interval '1 hour' - now())))::integer END
  FROM (
    SELECT created_at FROM executions
    WHERE project_id = project AND created_at > now() - interval '1 hour' AND is_counted AND NOT (status = 'failed' AND started_at IS NULL)
    ORDER BY created_at DESC LIMIT hourly
  ) AS latest
$$;
