-- Whether an address is known to be its user's own, and how the account came about.
ALTER TABLE "users"
  ADD COLUMN "email_verified_at" TIMESTAMPTZ(3),
  ADD COLUMN "made_through" TEXT,
  ADD COLUMN "made_by_id" UUID;
ALTER TABLE "users" ADD CONSTRAINT "users_made_by_id_fkey" FOREIGN KEY ("made_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Of the accounts that are there: without a password only a provider, who vouched for the address, has let the person in, and
-- install admins are who runs the machine, or whom those have named. Nothing is known of the others.
UPDATE "users" SET "email_verified_at" = "created_at" WHERE "deleted_at" IS NULL AND ("password_hash" IS NULL OR "is_install_admin");
UPDATE "users" SET "made_through" = 'provider' WHERE "deleted_at" IS NULL AND "password_hash" IS NULL;

ALTER TABLE "invitations" ADD COLUMN "mail_token_hash" TEXT, ADD COLUMN "held_password_hash" TEXT;
CREATE UNIQUE INDEX "invitations_mail_token_hash_key" ON "invitations"("mail_token_hash");
CREATE INDEX "invitations_email_idx" ON "invitations"("email");

CREATE TABLE "ended_sessions" (
  "id" UUID NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "ended_sessions_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "ended_sessions_expires_at_idx" ON "ended_sessions"("expires_at");
