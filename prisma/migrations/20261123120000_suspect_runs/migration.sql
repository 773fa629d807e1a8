-- Runs under which a process has died: few, and looked for at every claim.
CREATE INDEX "executions_suspects_idx" ON "executions"("project_id", "run_at") WHERE crashes > 0;
