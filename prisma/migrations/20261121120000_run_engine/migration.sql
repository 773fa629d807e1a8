-- AlterTable
ALTER TABLE "node_runs" ADD COLUMN     "items" INTEGER,
ALTER COLUMN "duration_ms" SET DATA TYPE DOUBLE PRECISION;

-- DropIndex
DROP INDEX "reviews_token_hash_key";

-- AlterTable
ALTER TABLE "reviews" DROP COLUMN "token_hash",
ADD COLUMN     "notified_at" TIMESTAMPTZ(3),
ADD COLUMN     "woken_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "notifications" ADD COLUMN     "subject_id" UUID;

-- CreateIndex
CREATE UNIQUE INDEX "notifications_subject_id_kind_user_id_key" ON "notifications"("subject_id", "kind", "user_id");

-- CreateIndex
CREATE INDEX "reviews_status_notified_at_created_at_idx" ON "reviews"("status", "notified_at", "created_at");

-- CreateIndex
CREATE INDEX "reviews_status_taken_at_decided_at_idx" ON "reviews"("status", "taken_at", "decided_at");

-- Seconds until a project may start another execution, 0 when it may now. Ask while holding the project's lock: being
-- VOLATILE it takes a snapshot of its own, and so sees what others inserted while the caller's statement waited.
-- An execution that was refused before it began (failed and never started) does not spend the hour.
CREATE FUNCTION seconds_until_execution(project uuid, hourly integer) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN count(*) < hourly THEN 0 ELSE greatest(1, ceil(extract(epoch FROM min(created_at) + interval '1 hour' - now())))::integer END
  FROM (
    SELECT created_at FROM executions
    WHERE project_id = project AND created_at > now() - interval '1 hour' AND NOT (status = 'failed' AND started_at IS NULL)
    ORDER BY created_at DESC LIMIT hourly
  ) AS latest
$$;
