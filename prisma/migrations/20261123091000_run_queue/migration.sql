-- The table of executions is the queue: one column says when somebody has to look at a run next.
ALTER TABLE "executions" ADD COLUMN "run_at" TIMESTAMPTZ(3),
ADD COLUMN "wake" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "crashes" INTEGER NOT NULL DEFAULT 0;

-- What is carried is due when its lease ends, what waits for people at its deadline or when somebody has decided, all else now.
UPDATE "executions" e SET "run_at" = CASE
    WHEN e."lease_until" > now() THEN e."lease_until"
    WHEN e."status" = 'paused' AND NOT EXISTS (
      SELECT FROM "waits" w WHERE w."execution_id" = e."id" AND w."status" IN ('resolved', 'expired') AND w."taken_at" IS NULL
    ) THEN e."wake_at"
    ELSE now()
  END
WHERE e."status" IN ('pending', 'queued', 'running', 'paused');

-- Nobody carries what has ended.
UPDATE "executions" SET "lease_until" = NULL WHERE "lease_until" IS NOT NULL AND "run_at" IS NULL AND "status" <> 'paused';

DROP INDEX "executions_overdue_at_idx";

ALTER TABLE "executions" DROP COLUMN "overdue_at", DROP COLUMN "wake_at";

CREATE INDEX "executions_project_id_run_at_idx" ON "executions"("project_id", "run_at") WHERE run_at IS NOT NULL;

CREATE INDEX "executions_project_id_idx" ON "executions"("project_id") WHERE lease_until IS NOT NULL;

-- How many more runs of a project may be carried. Asked under the lock of the project, with a snapshot of its own.
CREATE FUNCTION free_run_places(project uuid, most integer) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT most - count(*)::integer FROM executions WHERE project_id = project AND lease_until > now()
$$;

-- The same for a run that is new: none while others have waited longer.
CREATE FUNCTION may_begin_run(project uuid, most integer) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT free_run_places(project, most) > 0
    AND NOT EXISTS (SELECT FROM executions WHERE project_id = project AND run_at <= now())
$$;
