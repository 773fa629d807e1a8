-- How much an execution has written. Of those before it is 0 until the hourly tidying has looked.
ALTER TABLE "executions" ADD COLUMN     "bytes" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "project_storage" (
    "project_id" UUID NOT NULL,
    "runs" BIGINT NOT NULL DEFAULT 0,
    "documents" BIGINT NOT NULL DEFAULT 0,
    "workflows" BIGINT NOT NULL DEFAULT 0,
    "measured_at" TIMESTAMPTZ(3),

    CONSTRAINT "project_storage_pkey" PRIMARY KEY ("project_id")
);

-- AddForeignKey
ALTER TABLE "project_storage" ADD CONSTRAINT "project_storage_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
