-- A review becomes one kind of wait. Every row keeps its id, which its mailed links and notifications bear.

-- CreateEnum
CREATE TYPE "WaitReason" AS ENUM ('review', 'time', 'callback', 'child', 'budget');

-- CreateEnum
CREATE TYPE "WaitStatus" AS ENUM ('waiting', 'resolved', 'expired', 'withdrawn');

-- CreateTable
CREATE TABLE "waits" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "execution_id" UUID NOT NULL,
    "node_id" TEXT NOT NULL,
    "iteration" TEXT NOT NULL DEFAULT '',
    "reason" "WaitReason" NOT NULL,
    "label" TEXT NOT NULL,
    "status" "WaitStatus" NOT NULL DEFAULT 'waiting',
    "deadline" TIMESTAMPTZ(3),
    "token_hash" BYTEA,
    "outcome" JSONB,
    "resolved_at" TIMESTAMPTZ(3),
    "taken_at" TIMESTAMPTZ(3),
    "woken_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "title" TEXT NOT NULL DEFAULT '',
    "description" TEXT NOT NULL DEFAULT '',
    "display_value" TEXT NOT NULL DEFAULT '',
    "notification_email" TEXT,
    "notified_at" TIMESTAMPTZ(3),
    "via" TEXT,
    "reviewer_id" UUID,
    "reviewer_email" TEXT,
    "reviewer_name" TEXT,
    "reviewer_role" "Role",

    CONSTRAINT "waits_pkey" PRIMARY KEY ("id")
);

-- What the clock decided has expired, and nobody decided it.
INSERT INTO "waits" (
    "id", "project_id", "execution_id", "node_id", "iteration", "reason", "label", "status", "deadline", "outcome",
    "resolved_at", "taken_at", "woken_at", "created_at", "title", "description", "display_value", "notification_email",
    "notified_at", "via", "reviewer_id", "reviewer_email", "reviewer_name", "reviewer_role"
)
SELECT
    "id", "project_id", "execution_id", "node_id", "iteration", 'review', "label",
    CASE
      WHEN "via" = 'timeout' THEN 'expired'
      WHEN "status" IN ('approved', 'rejected') THEN 'resolved'
      ELSE "status"::text
    END::"WaitStatus",
    "due_at",
    CASE WHEN "status" IN ('approved', 'rejected') AND "via" IS DISTINCT FROM 'timeout'
      THEN jsonb_build_object('decision', "status", 'comment', "comment") END,
    "decided_at", "taken_at", "woken_at", "created_at", "title", "description", "display_value", "notification_email",
    "notified_at", nullif("via", 'timeout'), "reviewer_id", "reviewer_email", "reviewer_name", "reviewer_role"
FROM "reviews";

-- DropTable
DROP TABLE "reviews";

-- DropEnum
DROP TYPE "ReviewStatus";

-- CreateIndex
CREATE INDEX "waits_project_id_reason_status_id_idx" ON "waits"("project_id", "reason", "status", "id" DESC);

-- CreateIndex
CREATE INDEX "waits_status_deadline_idx" ON "waits"("status", "deadline");

-- CreateIndex
CREATE INDEX "waits_status_taken_at_resolved_at_idx" ON "waits"("status", "taken_at", "resolved_at");

-- CreateIndex
CREATE INDEX "waits_reason_status_notified_at_created_at_idx" ON "waits"("reason", "status", "notified_at", "created_at");

-- CreateIndex
CREATE INDEX "waits_reviewer_id_idx" ON "waits"("reviewer_id");

-- CreateIndex
CREATE UNIQUE INDEX "waits_execution_id_node_id_iteration_key" ON "waits"("execution_id", "node_id", "iteration");

-- AddForeignKey
ALTER TABLE "waits" ADD CONSTRAINT "waits_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "waits" ADD CONSTRAINT "waits_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "waits" ADD CONSTRAINT "waits_reviewer_id_fkey" FOREIGN KEY ("reviewer_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
