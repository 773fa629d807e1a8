-- The assistant. Its two tables were there before it: nothing has ever written into them.
DELETE FROM "assistant_messages";

-- CreateEnum
CREATE TYPE "AssistantMessageStatus" AS ENUM ('queued', 'working', 'waiting', 'done', 'failed', 'stopped');

-- CreateEnum
CREATE TYPE "AssistantRequestStatus" AS ENUM ('open', 'answered', 'approved', 'rejected');

-- CreateEnum
CREATE TYPE "ProposalStatus" AS ENUM ('open', 'accepted', 'rejected', 'conflict');

-- AlterTable
ALTER TABLE "workflow_versions" ADD COLUMN "by" TEXT;

-- AlterTable
ALTER TABLE "workflow_drafts" ADD COLUMN "by" TEXT;

-- AlterTable
ALTER TABLE "assistant_threads" ADD COLUMN "last_seq" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "runs" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "summarized_message_id" UUID,
ADD COLUMN "summary" TEXT NOT NULL DEFAULT '',
ADD COLUMN "workflow_id" UUID;

-- AlterTable
ALTER TABLE "assistant_messages" DROP COLUMN "role",
ADD COLUMN "answer" TEXT NOT NULL DEFAULT '',
ADD COLUMN "begun_at" TIMESTAMPTZ(3),
ADD COLUMN "context" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN "conversation" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN "cost" DOUBLE PRECISION,
ADD COLUMN "ended_at" TIMESTAMPTZ(3),
ADD COLUMN "error" TEXT,
ADD COLUMN "input_tokens" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "mode" TEXT NOT NULL,
ADD COLUMN "output_tokens" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "rounds" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN "status" "AssistantMessageStatus" NOT NULL DEFAULT 'queued',
ADD COLUMN "stop_asked" BOOLEAN NOT NULL DEFAULT false,
ALTER COLUMN "content" SET DATA TYPE TEXT;

-- CreateTable
CREATE TABLE "assistant_events" (
    "thread_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "message_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSONB NOT NULL,

    CONSTRAINT "assistant_events_pkey" PRIMARY KEY ("thread_id","seq")
);

-- CreateTable
CREATE TABLE "assistant_requests" (
    "id" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "call_id" TEXT NOT NULL,
    "tool" TEXT NOT NULL,
    "arguments" JSONB NOT NULL,
    "status" "AssistantRequestStatus" NOT NULL DEFAULT 'open',
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "assistant_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assistant_proposals" (
    "id" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "base_revision" INTEGER NOT NULL,
    "base" JSONB NOT NULL,
    "graph" JSONB NOT NULL,
    "operations" JSONB NOT NULL,
    "summary" TEXT NOT NULL,
    "status" "ProposalStatus" NOT NULL DEFAULT 'open',
    "problems" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "assistant_proposals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assistant_settings" (
    "project_id" UUID NOT NULL,
    "llm_key_id" UUID NOT NULL,
    "model" TEXT NOT NULL,

    CONSTRAINT "assistant_settings_pkey" PRIMARY KEY ("project_id")
);

-- CreateIndex
CREATE INDEX "assistant_requests_thread_id_idx" ON "assistant_requests"("thread_id");

-- CreateIndex
CREATE UNIQUE INDEX "assistant_requests_message_id_call_id_key" ON "assistant_requests"("message_id", "call_id");

-- CreateIndex
CREATE INDEX "assistant_proposals_thread_id_idx" ON "assistant_proposals"("thread_id");

-- CreateIndex
CREATE INDEX "assistant_proposals_message_id_idx" ON "assistant_proposals"("message_id");

-- CreateIndex
CREATE INDEX "assistant_proposals_workflow_id_status_idx" ON "assistant_proposals"("workflow_id", "status");

-- CreateIndex
CREATE INDEX "assistant_settings_llm_key_id_idx" ON "assistant_settings"("llm_key_id");

-- CreateIndex
CREATE INDEX "assistant_threads_user_id_idx" ON "assistant_threads"("user_id");

-- CreateIndex
CREATE INDEX "assistant_threads_workflow_id_idx" ON "assistant_threads"("workflow_id");

-- CreateIndex
CREATE INDEX "assistant_messages_open_idx" ON "assistant_messages"("status") WHERE (status IN ('queued', 'working', 'waiting'));

-- AddForeignKey
ALTER TABLE "assistant_threads" ADD CONSTRAINT "assistant_threads_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_events" ADD CONSTRAINT "assistant_events_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "assistant_threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_requests" ADD CONSTRAINT "assistant_requests_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "assistant_threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_requests" ADD CONSTRAINT "assistant_requests_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "assistant_messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_proposals" ADD CONSTRAINT "assistant_proposals_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "assistant_threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_proposals" ADD CONSTRAINT "assistant_proposals_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "assistant_messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_proposals" ADD CONSTRAINT "assistant_proposals_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_settings" ADD CONSTRAINT "assistant_settings_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_settings" ADD CONSTRAINT "assistant_settings_llm_key_id_fkey" FOREIGN KEY ("llm_key_id") REFERENCES "llm_keys"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
