-- A key without the scope read sees the runs that it started, and no others.
ALTER TABLE "executions" ADD COLUMN "started_by_key_id" UUID;

CREATE INDEX "executions_started_by_key_id_created_at_id_idx" ON "executions"("started_by_key_id", "created_at" DESC, "id" DESC)
  WHERE (started_by_key_id IS NOT NULL);
