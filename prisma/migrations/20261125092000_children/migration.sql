-- A run that a node of another run has started, and waits for: its id is that of the wait.
ALTER TABLE "executions" ADD COLUMN "parent_id" UUID,
ADD COLUMN "parent_node_id" TEXT,
ADD COLUMN "depth" INTEGER NOT NULL DEFAULT 1;

ALTER TABLE "executions" ADD CONSTRAINT "executions_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "executions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

CREATE INDEX "executions_parent_id_idx" ON "executions"("parent_id") WHERE parent_id IS NOT NULL;

-- Those under way: the sweep looks for them again and again.
CREATE INDEX "executions_id_idx" ON "executions"("id") WHERE parent_id IS NOT NULL AND completed_at IS NULL;

-- What is to be run meanwhile.
ALTER TABLE "waits" ADD COLUMN "request" JSONB;
