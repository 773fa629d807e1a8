-- Sessions that are open are kept as well as those that were ended. A cookie from before this gets its row when it is seen next.
CREATE TABLE "sessions" (
  "id" UUID NOT NULL,
  "user_id" UUID,
  "agent" TEXT,
  "ip" TEXT,
  "opened_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "ended_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);
INSERT INTO "sessions" ("id", "ended_at", "expires_at") SELECT "id", CURRENT_TIMESTAMP, "expires_at" FROM "ended_sessions";
DROP TABLE "ended_sessions";
CREATE INDEX "sessions_user_id_seen_at_idx" ON "sessions"("user_id", "seen_at" DESC);
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Who asked for a mail when runs fail goes on getting it.
ALTER TABLE "users"
  ADD COLUMN "notification_choices" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "time_zone" TEXT,
  ADD COLUMN "locale" TEXT,
  ADD COLUMN "sessions_ended_at" TIMESTAMPTZ(3),
  ADD COLUMN "service_project_id" UUID;
UPDATE "users" SET "notification_choices" = '{"run_failed": {"in_app": true, "mail": true}}' WHERE "notify_run_failed";
ALTER TABLE "users" DROP COLUMN "notify_run_failed";
ALTER TABLE "users" ADD CONSTRAINT "users_service_project_id_fkey" FOREIGN KEY ("service_project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "users_service_project_id_idx" ON "users"("service_project_id");
ALTER TABLE "notifications" ADD COLUMN "mail_asked_at" TIMESTAMPTZ(3);
UPDATE "notifications" SET "mail_asked_at" = "created_at";

CREATE TABLE "second_factors" (
  "user_id" UUID NOT NULL,
  "sealed_secret" TEXT NOT NULL,
  "confirmed_at" TIMESTAMPTZ(3),
  "last_step" INTEGER NOT NULL DEFAULT 0,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "second_factors_pkey" PRIMARY KEY ("user_id")
);
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "recovery_codes" (
  "user_id" UUID NOT NULL,
  "code_hash" TEXT NOT NULL,
  "used_at" TIMESTAMPTZ(3),
  CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("user_id", "code_hash")
);
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "password_resets" (
  "id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  "token_hash" TEXT NOT NULL,
  "made_by_id" UUID,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "password_resets_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "password_resets_token_hash_key" ON "password_resets"("token_hash");
CREATE INDEX "password_resets_user_id_idx" ON "password_resets"("user_id");
CREATE INDEX "password_resets_expires_at_idx" ON "password_resets"("expires_at");
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_made_by_id_fkey" FOREIGN KEY ("made_by_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
