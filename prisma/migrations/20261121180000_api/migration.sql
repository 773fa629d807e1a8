-- What the whole REST API needs beyond the run engine (no semicolons in comments)

-- AlterTable
ALTER TABLE "rag_sources" ADD COLUMN     "revision" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "rag_documents" ADD COLUMN     "chunk_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "chunks_done" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "generation" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "language" TEXT NOT NULL DEFAULT 'simple';

-- AlterTable
ALTER TABLE "rag_document_contents" ADD COLUMN     "data" BYTEA;

-- AlterTable
ALTER TABLE "rag_chunks" ADD COLUMN     "search" tsvector;

-- CreateIndex
CREATE INDEX "rag_documents_status_updated_at_idx" ON "rag_documents"("status", "updated_at");

-- CreateIndex
CREATE UNIQUE INDEX "rag_documents_rag_source_id_hash_key" ON "rag_documents"("rag_source_id", "hash");

-- CreateIndex
CREATE INDEX "rag_chunks_search_idx" ON "rag_chunks" USING GIN ("search");

-- DropTable
DROP TABLE "idempotency_keys";

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "id" TEXT NOT NULL,
    "project_id" UUID,
    "user_id" UUID NOT NULL,
    "request_hash" TEXT NOT NULL,
    "run_id" UUID NOT NULL,
    "held_by" TEXT,
    "held_until" TIMESTAMPTZ(3),
    "status" INTEGER,
    "response" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE UNLOGGED TABLE "rate_limits" (
    "key" VARCHAR(255) NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "rate_limits_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- CreateIndex
CREATE INDEX "idempotency_keys_project_id_idx" ON "idempotency_keys"("project_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_user_id_idx" ON "idempotency_keys"("user_id");

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- DropIndex
DROP INDEX "audit_log_project_id_resource_type_resource_id_idx";

-- DropIndex
DROP INDEX "executions_project_id_created_at_idx";

-- DropIndex
DROP INDEX "executions_project_id_id_idx";

-- DropIndex
DROP INDEX "executions_project_id_status_id_idx";

-- DropIndex
DROP INDEX "executions_workflow_id_id_idx";

-- DropIndex
DROP INDEX "executions_workflow_id_status_id_idx";

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "projects" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3),
ALTER COLUMN "owner_id" DROP NOT NULL;

-- CreateTable
CREATE TABLE "execution_counts" (
    "project_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,
    "workflow_id" UUID NOT NULL,
    "status" "ExecutionStatus" NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "execution_counts_pkey" PRIMARY KEY ("project_id","since","workflow_id","status")
);

-- CreateTable
CREATE TABLE "execution_open" (
    "project_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "execution_id" UUID NOT NULL,

    CONSTRAINT "execution_open_pkey" PRIMARY KEY ("project_id","since","execution_id")
);

-- CreateIndex
CREATE INDEX "execution_open_execution_id_idx" ON "execution_open"("execution_id");

-- CreateIndex
CREATE INDEX "executions_project_id_created_at_id_idx" ON "executions"("project_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "executions_project_id_status_created_at_id_idx" ON "executions"("project_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "executions_workflow_id_created_at_id_idx" ON "executions"("workflow_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "executions_workflow_id_status_created_at_id_idx" ON "executions"("workflow_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_log_project_id_resource_type_resource_id_id_idx" ON "audit_log"("project_id", "resource_type", "resource_id", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_log_project_id_actor_id_id_idx" ON "audit_log"("project_id", "actor_id", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_log_project_id_action_id_idx" ON "audit_log"("project_id", "action", "id" DESC);

-- AddForeignKey
ALTER TABLE "execution_counts" ADD CONSTRAINT "execution_counts_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "execution_open" ADD CONSTRAINT "execution_open_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AlterTable
ALTER TABLE "mcp_servers" ADD COLUMN "private_allowed" BOOLEAN NOT NULL DEFAULT false;
