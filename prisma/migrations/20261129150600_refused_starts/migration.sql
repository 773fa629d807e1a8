-- Deliveries and schedule fires that could not start a run, per workflow and clock hour. Bounds how many leave an execution row.
CREATE TABLE "refused_starts" (
  "workflow_id" UUID NOT NULL,
  "hour" TIMESTAMPTZ(3) NOT NULL,
  "project_id" UUID NOT NULL,
  "count" INTEGER NOT NULL,
  "rows" INTEGER NOT NULL,
  "bytes" BIGINT NOT NULL,
  CONSTRAINT "refused_starts_pkey" PRIMARY KEY ("workflow_id", "hour")
);
CREATE INDEX "refused_starts_project_id_hour_idx" ON "refused_starts" ("project_id", "hour");
ALTER TABLE "refused_starts" ADD CONSTRAINT "refused_starts_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
