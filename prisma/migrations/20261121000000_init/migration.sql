-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "Role" AS ENUM ('viewer', 'editor', 'admin');

-- CreateEnum
CREATE TYPE "ExecutionStatus" AS ENUM ('pending', 'queued', 'running', 'paused', 'completed', 'failed', 'rejected', 'cancelled');

-- CreateEnum
CREATE TYPE "NodeStatus" AS ENUM ('idle', 'running', 'waiting', 'complete', 'failed', 'skipped');

-- CreateEnum
CREATE TYPE "ReviewStatus" AS ENUM ('waiting', 'approved', 'rejected', 'withdrawn');

-- CreateEnum
CREATE TYPE "DocumentStatus" AS ENUM ('indexing', 'ready', 'failed');

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "password_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "projects" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "owner_id" UUID NOT NULL,
    "retention_days" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "projects_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memberships" (
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" "Role" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("project_id","user_id")
);

-- CreateTable
CREATE TABLE "invitations" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" "Role" NOT NULL,
    "token_hash" TEXT NOT NULL,
    "invited_by_id" UUID,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "platform_keys" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "key_hash" TEXT NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "platform_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "llm_keys" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "sealed_key" TEXT NOT NULL,
    "masked_key" TEXT NOT NULL,
    "base_url" TEXT,
    "api_version" TEXT,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "llm_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agents" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "llm_key_id" UUID NOT NULL,
    "model" TEXT NOT NULL,
    "system_prompt" TEXT NOT NULL DEFAULT '',
    "temperature" DOUBLE PRECISION,
    "max_tokens" INTEGER,
    "tools" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "output_schema" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_mcp_servers" (
    "agent_id" UUID NOT NULL,
    "mcp_server_id" UUID NOT NULL,

    CONSTRAINT "agent_mcp_servers_pkey" PRIMARY KEY ("agent_id","mcp_server_id")
);

-- CreateTable
CREATE TABLE "agent_rag_sources" (
    "agent_id" UUID NOT NULL,
    "rag_source_id" UUID NOT NULL,

    CONSTRAINT "agent_rag_sources_pkey" PRIMARY KEY ("agent_id","rag_source_id")
);

-- CreateTable
CREATE TABLE "agent_skills" (
    "agent_id" UUID NOT NULL,
    "skill_id" TEXT NOT NULL,

    CONSTRAINT "agent_skills_pkey" PRIMARY KEY ("agent_id","skill_id")
);

-- CreateTable
CREATE TABLE "workflows" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "version" INTEGER NOT NULL DEFAULT 1,
    "snapshot_id" UUID NOT NULL,
    "trigger" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "workflows_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflow_snapshots" (
    "id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "graph" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_snapshots_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflow_versions" (
    "id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "snapshot_id" UUID NOT NULL,
    "name" TEXT,
    "saved_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_versions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workflow_drafts" (
    "workflow_id" UUID NOT NULL,
    "graph" JSONB NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "base_version" INTEGER NOT NULL,
    "updated_by_id" UUID,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workflow_drafts_pkey" PRIMARY KEY ("workflow_id")
);

-- CreateTable
CREATE TABLE "workflow_agent_uses" (
    "workflow_id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,

    CONSTRAINT "workflow_agent_uses_pkey" PRIMARY KEY ("workflow_id","agent_id")
);

-- CreateTable
CREATE TABLE "schedules" (
    "workflow_id" UUID NOT NULL,
    "cron_expression" TEXT NOT NULL,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "default_input" TEXT NOT NULL DEFAULT '',
    "active" BOOLEAN NOT NULL DEFAULT true,
    "next_fire_at" TIMESTAMPTZ(3),
    "last_fire_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "schedules_pkey" PRIMARY KEY ("workflow_id")
);

-- CreateTable
CREATE TABLE "webhooks" (
    "workflow_id" UUID NOT NULL,
    "sealed_secret" TEXT NOT NULL,
    "rotated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("workflow_id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "delivery_key" TEXT,
    "status" INTEGER NOT NULL,
    "body" TEXT,
    "execution_id" UUID,
    "error" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "executions" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "workflow_id" UUID NOT NULL,
    "workflow_version" INTEGER,
    "snapshot_id" UUID NOT NULL,
    "status" "ExecutionStatus" NOT NULL DEFAULT 'pending',
    "trigger" TEXT NOT NULL,
    "started_by_id" UUID,
    "rerun_of_id" UUID,
    "due_at" TIMESTAMPTZ(3),
    "input_preview" TEXT NOT NULL DEFAULT '',
    "output_preview" TEXT,
    "error" TEXT,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "dispatch" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3),
    "wake_at" TIMESTAMPTZ(3),
    "overdue_at" TIMESTAMPTZ(3),
    "last_seq" INTEGER NOT NULL DEFAULT 0,
    "commit_no" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "executions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "execution_values" (
    "execution_id" UUID NOT NULL,
    "input" TEXT NOT NULL DEFAULT '',
    "params" JSONB,
    "output" TEXT,
    "outputs" JSONB,

    CONSTRAINT "execution_values_pkey" PRIMARY KEY ("execution_id")
);

-- CreateTable
CREATE TABLE "node_runs" (
    "id" UUID NOT NULL,
    "execution_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "iteration" TEXT NOT NULL DEFAULT '',
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "status" "NodeStatus" NOT NULL,
    "handle" TEXT,
    "error" TEXT,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "model" TEXT,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "reused" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "node_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "node_run_values" (
    "node_run_id" UUID NOT NULL,
    "input" TEXT,
    "output" TEXT,
    "tool_calls" JSONB,

    CONSTRAINT "node_run_values_pkey" PRIMARY KEY ("node_run_id")
);

-- CreateTable
CREATE TABLE "execution_events" (
    "execution_id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "node_id" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "execution_events_pkey" PRIMARY KEY ("execution_id","seq")
);

-- CreateTable
CREATE TABLE "reviews" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "execution_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "iteration" TEXT NOT NULL DEFAULT '',
    "label" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "display_value" TEXT NOT NULL DEFAULT '',
    "notification_email" TEXT,
    "status" "ReviewStatus" NOT NULL DEFAULT 'waiting',
    "comment" TEXT,
    "reviewer_id" UUID,
    "reviewer_email" TEXT,
    "reviewer_name" TEXT,
    "reviewer_role" "Role",
    "via" TEXT,
    "token_hash" TEXT,
    "due_at" TIMESTAMPTZ(3),
    "decided_at" TIMESTAMPTZ(3),
    "taken_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "reviews_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notifications" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "link" TEXT NOT NULL,
    "read_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "notifications_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rag_sources" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "config" JSONB NOT NULL DEFAULT '{}',
    "sealed_secrets" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rag_sources_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rag_documents" (
    "id" UUID NOT NULL,
    "rag_source_id" UUID NOT NULL,
    "title" TEXT NOT NULL,
    "uri" TEXT,
    "media_type" TEXT NOT NULL DEFAULT 'text/plain',
    "bytes" INTEGER NOT NULL DEFAULT 0,
    "hash" TEXT,
    "status" "DocumentStatus" NOT NULL DEFAULT 'indexing',
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "rag_documents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "rag_document_contents" (
    "document_id" UUID NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "rag_document_contents_pkey" PRIMARY KEY ("document_id")
);

-- CreateTable
CREATE TABLE "rag_chunks" (
    "id" UUID NOT NULL,
    "document_id" UUID NOT NULL,
    "rag_source_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "place" TEXT NOT NULL DEFAULT '',
    "text" TEXT NOT NULL,
    "embedding" REAL[] DEFAULT ARRAY[]::REAL[],

    CONSTRAINT "rag_chunks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mcp_servers" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "transport" TEXT NOT NULL DEFAULT 'streamable_http',
    "sealed_headers" TEXT,
    "header_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "tools" JSONB NOT NULL DEFAULT '[]',
    "disabled_tools" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "last_seen_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "mcp_servers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "skills" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "prompt" TEXT NOT NULL,
    "model" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "skills_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credentials" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "sealed_value" TEXT NOT NULL,
    "created_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "credentials_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "canvases" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "widgets" JSONB NOT NULL DEFAULT '[]',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "canvases_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assistant_threads" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "title" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "assistant_threads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "assistant_messages" (
    "id" UUID NOT NULL,
    "thread_id" UUID NOT NULL,
    "role" TEXT NOT NULL,
    "content" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "assistant_messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_log" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "actor_id" UUID,
    "actor_email" TEXT NOT NULL,
    "via" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "resource_type" TEXT NOT NULL,
    "resource_id" TEXT NOT NULL,
    "resource_name" TEXT NOT NULL DEFAULT '',
    "detail" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "project_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "status" INTEGER,
    "response" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("project_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "projects_owner_id_slug_key" ON "projects"("owner_id", "slug");

-- CreateIndex
CREATE INDEX "memberships_user_id_idx" ON "memberships"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations"("token_hash");

-- CreateIndex
CREATE INDEX "invitations_project_id_email_idx" ON "invitations"("project_id", "email");

-- CreateIndex
CREATE UNIQUE INDEX "platform_keys_key_hash_key" ON "platform_keys"("key_hash");

-- CreateIndex
CREATE INDEX "platform_keys_user_id_id_idx" ON "platform_keys"("user_id", "id" DESC);

-- CreateIndex
CREATE INDEX "llm_keys_project_id_id_idx" ON "llm_keys"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "llm_keys_project_id_name_key" ON "llm_keys"("project_id", "name");

-- CreateIndex
CREATE INDEX "agents_project_id_id_idx" ON "agents"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "agents_llm_key_id_idx" ON "agents"("llm_key_id");

-- CreateIndex
CREATE UNIQUE INDEX "agents_project_id_name_key" ON "agents"("project_id", "name");

-- CreateIndex
CREATE INDEX "agent_mcp_servers_mcp_server_id_idx" ON "agent_mcp_servers"("mcp_server_id");

-- CreateIndex
CREATE INDEX "agent_rag_sources_rag_source_id_idx" ON "agent_rag_sources"("rag_source_id");

-- CreateIndex
CREATE INDEX "agent_skills_skill_id_idx" ON "agent_skills"("skill_id");

-- CreateIndex
CREATE INDEX "workflows_project_id_deleted_at_id_idx" ON "workflows"("project_id", "deleted_at", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "workflow_snapshots_workflow_id_hash_key" ON "workflow_snapshots"("workflow_id", "hash");

-- CreateIndex
CREATE INDEX "workflow_versions_snapshot_id_idx" ON "workflow_versions"("snapshot_id");

-- CreateIndex
CREATE UNIQUE INDEX "workflow_versions_workflow_id_version_key" ON "workflow_versions"("workflow_id", "version");

-- CreateIndex
CREATE INDEX "workflow_agent_uses_agent_id_idx" ON "workflow_agent_uses"("agent_id");

-- CreateIndex
CREATE INDEX "schedules_active_next_fire_at_idx" ON "schedules"("active", "next_fire_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_workflow_id_id_idx" ON "webhook_deliveries"("workflow_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_workflow_id_delivery_key_key" ON "webhook_deliveries"("workflow_id", "delivery_key");

-- CreateIndex
CREATE INDEX "executions_project_id_id_idx" ON "executions"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "executions_project_id_status_id_idx" ON "executions"("project_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "executions_workflow_id_id_idx" ON "executions"("workflow_id", "id" DESC);

-- CreateIndex
CREATE INDEX "executions_workflow_id_status_id_idx" ON "executions"("workflow_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "executions_project_id_created_at_idx" ON "executions"("project_id", "created_at");

-- CreateIndex
CREATE INDEX "executions_overdue_at_idx" ON "executions"("overdue_at");

-- CreateIndex
CREATE INDEX "executions_rerun_of_id_idx" ON "executions"("rerun_of_id");

-- CreateIndex
CREATE INDEX "executions_snapshot_id_idx" ON "executions"("snapshot_id");

-- CreateIndex
CREATE UNIQUE INDEX "executions_workflow_id_due_at_key" ON "executions"("workflow_id", "due_at");

-- CreateIndex
CREATE UNIQUE INDEX "node_runs_execution_id_node_id_iteration_attempt_key" ON "node_runs"("execution_id", "node_id", "iteration", "attempt");

-- CreateIndex
CREATE UNIQUE INDEX "reviews_token_hash_key" ON "reviews"("token_hash");

-- CreateIndex
CREATE INDEX "reviews_project_id_status_id_idx" ON "reviews"("project_id", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "reviews_status_due_at_idx" ON "reviews"("status", "due_at");

-- CreateIndex
CREATE INDEX "reviews_reviewer_id_idx" ON "reviews"("reviewer_id");

-- CreateIndex
CREATE UNIQUE INDEX "reviews_execution_id_node_id_iteration_key" ON "reviews"("execution_id", "node_id", "iteration");

-- CreateIndex
CREATE INDEX "notifications_user_id_read_at_id_idx" ON "notifications"("user_id", "read_at", "id" DESC);

-- CreateIndex
CREATE INDEX "notifications_project_id_idx" ON "notifications"("project_id");

-- CreateIndex
CREATE INDEX "rag_sources_project_id_id_idx" ON "rag_sources"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "rag_sources_project_id_name_key" ON "rag_sources"("project_id", "name");

-- CreateIndex
CREATE INDEX "rag_documents_rag_source_id_id_idx" ON "rag_documents"("rag_source_id", "id" DESC);

-- CreateIndex
CREATE INDEX "rag_chunks_rag_source_id_idx" ON "rag_chunks"("rag_source_id");

-- CreateIndex
CREATE UNIQUE INDEX "rag_chunks_document_id_position_key" ON "rag_chunks"("document_id", "position");

-- CreateIndex
CREATE INDEX "mcp_servers_project_id_id_idx" ON "mcp_servers"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "mcp_servers_project_id_name_key" ON "mcp_servers"("project_id", "name");

-- CreateIndex
CREATE INDEX "skills_project_id_id_idx" ON "skills"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "skills_project_id_name_key" ON "skills"("project_id", "name");

-- CreateIndex
CREATE INDEX "credentials_project_id_id_idx" ON "credentials"("project_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "credentials_project_id_name_key" ON "credentials"("project_id", "name");

-- CreateIndex
CREATE INDEX "canvases_project_id_id_idx" ON "canvases"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "assistant_threads_project_id_user_id_id_idx" ON "assistant_threads"("project_id", "user_id", "id" DESC);

-- CreateIndex
CREATE INDEX "assistant_messages_thread_id_id_idx" ON "assistant_messages"("thread_id", "id");

-- CreateIndex
CREATE INDEX "audit_log_project_id_id_idx" ON "audit_log"("project_id", "id" DESC);

-- CreateIndex
CREATE INDEX "audit_log_project_id_resource_type_resource_id_idx" ON "audit_log"("project_id", "resource_type", "resource_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");

-- AddForeignKey
ALTER TABLE "projects" ADD CONSTRAINT "projects_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_id_fkey" FOREIGN KEY ("invited_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "platform_keys" ADD CONSTRAINT "platform_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "llm_keys" ADD CONSTRAINT "llm_keys_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_llm_key_id_fkey" FOREIGN KEY ("llm_key_id") REFERENCES "llm_keys"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_mcp_servers" ADD CONSTRAINT "agent_mcp_servers_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_mcp_servers" ADD CONSTRAINT "agent_mcp_servers_mcp_server_id_fkey" FOREIGN KEY ("mcp_server_id") REFERENCES "mcp_servers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_rag_sources" ADD CONSTRAINT "agent_rag_sources_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_rag_sources" ADD CONSTRAINT "agent_rag_sources_rag_source_id_fkey" FOREIGN KEY ("rag_source_id") REFERENCES "rag_sources"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_skills" ADD CONSTRAINT "agent_skills_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflows" ADD CONSTRAINT "workflows_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_snapshots" ADD CONSTRAINT "workflow_snapshots_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_versions" ADD CONSTRAINT "workflow_versions_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_versions" ADD CONSTRAINT "workflow_versions_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "workflow_snapshots"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_versions" ADD CONSTRAINT "workflow_versions_saved_by_id_fkey" FOREIGN KEY ("saved_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_drafts" ADD CONSTRAINT "workflow_drafts_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_drafts" ADD CONSTRAINT "workflow_drafts_updated_by_id_fkey" FOREIGN KEY ("updated_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workflow_agent_uses" ADD CONSTRAINT "workflow_agent_uses_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "webhooks"("workflow_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "executions" ADD CONSTRAINT "executions_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "executions" ADD CONSTRAINT "executions_workflow_id_fkey" FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "executions" ADD CONSTRAINT "executions_snapshot_id_fkey" FOREIGN KEY ("snapshot_id") REFERENCES "workflow_snapshots"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "executions" ADD CONSTRAINT "executions_started_by_id_fkey" FOREIGN KEY ("started_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "executions" ADD CONSTRAINT "executions_rerun_of_id_fkey" FOREIGN KEY ("rerun_of_id") REFERENCES "executions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "execution_values" ADD CONSTRAINT "execution_values_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node_runs" ADD CONSTRAINT "node_runs_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node_run_values" ADD CONSTRAINT "node_run_values_node_run_id_fkey" FOREIGN KEY ("node_run_id") REFERENCES "node_runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "execution_events" ADD CONSTRAINT "execution_events_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reviews" ADD CONSTRAINT "reviews_reviewer_id_fkey" FOREIGN KEY ("reviewer_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rag_sources" ADD CONSTRAINT "rag_sources_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rag_documents" ADD CONSTRAINT "rag_documents_rag_source_id_fkey" FOREIGN KEY ("rag_source_id") REFERENCES "rag_sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rag_document_contents" ADD CONSTRAINT "rag_document_contents_document_id_fkey" FOREIGN KEY ("document_id") REFERENCES "rag_documents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rag_chunks" ADD CONSTRAINT "rag_chunks_document_id_fkey" FOREIGN KEY ("document_id") REFERENCES "rag_documents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "skills" ADD CONSTRAINT "skills_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "canvases" ADD CONSTRAINT "canvases_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_threads" ADD CONSTRAINT "assistant_threads_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_threads" ADD CONSTRAINT "assistant_threads_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "assistant_messages" ADD CONSTRAINT "assistant_messages_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "assistant_threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
