-- Filters of the runs list that somebody has named.
CREATE TABLE "run_views" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "query" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "run_views_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "run_views_project_id_user_id_name_key" ON "run_views"("project_id", "user_id", "name");

CREATE INDEX "run_views_user_id_idx" ON "run_views"("user_id");

ALTER TABLE "run_views" ADD CONSTRAINT "run_views_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "run_views" ADD CONSTRAINT "run_views_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
