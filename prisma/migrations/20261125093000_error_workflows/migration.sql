-- The workflow that is started when a run fails: of a workflow, else of its project. Failures from before it was named start none.
ALTER TABLE "workflows" ADD COLUMN "error_workflow_id" UUID,
ADD COLUMN "error_workflow_since" TIMESTAMPTZ(3);

ALTER TABLE "projects" ADD COLUMN "error_workflow_id" UUID,
ADD COLUMN "error_workflow_since" TIMESTAMPTZ(3);

-- Few of all, and looked for again and again.
CREATE INDEX "executions_completed_at_idx" ON "executions"("completed_at") WHERE status = 'failed';
