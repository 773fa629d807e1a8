-- Emails that are to be sent, whom each project writes to, and the state of the mail server.
CREATE TABLE "emails" (
    "id" UUID NOT NULL,
    "message_id" TEXT NOT NULL,
    "project_id" UUID,
    "kind" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "subject_id" UUID,
    "user_id" UUID,
    "count" INTEGER NOT NULL DEFAULT 0,
    "body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "admitted_at" TIMESTAMPTZ(3),
    "taken_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,

    CONSTRAINT "emails_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "emails_message_id_key" ON "emails"("message_id");
CREATE INDEX "emails_due_idx" ON "emails"("project_id", "due_at", "id") WHERE (due_at IS NOT NULL);
CREATE INDEX "emails_project_id_taken_at_idx" ON "emails"("project_id", "taken_at");
CREATE INDEX "emails_project_id_admitted_at_idx" ON "emails"("project_id", "admitted_at");
CREATE INDEX "emails_address_admitted_at_idx" ON "emails"("address", "admitted_at");
CREATE INDEX "emails_admitted_at_idx" ON "emails"("admitted_at");
CREATE INDEX "emails_ended_idx" ON "emails"("created_at") WHERE (due_at IS NULL);

ALTER TABLE "emails" ADD CONSTRAINT "emails_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "email_recipients" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "address" TEXT NOT NULL,
    "first_sent_at" TIMESTAMPTZ(3),
    "confirmed_at" TIMESTAMPTZ(3),
    "stopped_at" TIMESTAMPTZ(3),
    "held" INTEGER NOT NULL DEFAULT 0,
    "summary_at" TIMESTAMPTZ(3),
    "is_untold" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "email_recipients_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "email_recipients_project_id_address_key" ON "email_recipients"("project_id", "address");
CREATE INDEX "email_recipients_summary_idx" ON "email_recipients"("summary_at") WHERE (summary_at IS NOT NULL);
CREATE INDEX "email_recipients_untold_idx" ON "email_recipients"("project_id") WHERE (is_untold);

ALTER TABLE "email_recipients" ADD CONSTRAINT "email_recipients_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "mail_server" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "last_sent_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "last_error_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,
    "retry_at" TIMESTAMPTZ(3),

    CONSTRAINT "mail_server_pkey" PRIMARY KEY ("id")
);

INSERT INTO "mail_server" ("id") VALUES (1);
