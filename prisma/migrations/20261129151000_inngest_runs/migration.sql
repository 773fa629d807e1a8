-- The function run at an Inngest server that carries an execution, for a link to its page there.
ALTER TABLE "executions" ADD COLUMN "inngest_run_id" TEXT;
