-- Who asks for it gets an e-mail when runs fail
ALTER TABLE "users" ADD COLUMN "notify_run_failed" BOOLEAN NOT NULL DEFAULT false;

-- Runs that have failed lately are looked for every few seconds
CREATE INDEX "executions_failed_idx" ON "executions"("completed_at") WHERE status = 'failed'::"ExecutionStatus";
