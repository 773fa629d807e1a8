-- Things that are done with many runs at once.
CREATE TABLE "bulk_actions" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "use_current" BOOLEAN NOT NULL DEFAULT false,
    "execution_ids" UUID[],
    "count" INTEGER NOT NULL,
    "done" INTEGER NOT NULL DEFAULT 0,
    "succeeded" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "worked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "bulk_actions_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "bulk_actions_project_id_idx" ON "bulk_actions"("project_id");

CREATE INDEX "bulk_actions_worked_at_idx" ON "bulk_actions"("worked_at") WHERE (completed_at IS NULL);

ALTER TABLE "bulk_actions" ADD CONSTRAINT "bulk_actions_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "bulk_actions" ADD CONSTRAINT "bulk_actions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
