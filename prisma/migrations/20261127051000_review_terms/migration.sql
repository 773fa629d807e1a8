-- Who is asked by a review, which answers there are, the text that flows on, and when people are told again. Reviews of before have none of it.
ALTER TABLE "waits" ADD COLUMN "text" TEXT;
ALTER TABLE "waits" ADD COLUMN "terms" JSONB;
ALTER TABLE "waits" ADD COLUMN "remind_at" TIMESTAMPTZ(3);
ALTER TABLE "waits" ADD COLUMN "reminded" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX "waits_remind_at_idx" ON "waits"("remind_at");

-- What somebody has answered to a review that several must agree on.
CREATE TABLE "review_votes" (
    "id" UUID NOT NULL,
    "wait_id" UUID NOT NULL,
    "voter" TEXT NOT NULL,
    "choice" TEXT NOT NULL,
    "comment" TEXT,
    "via" TEXT NOT NULL,
    "user_id" UUID,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "role" "Role",
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "review_votes_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "review_votes_wait_id_voter_key" ON "review_votes"("wait_id", "voter");
CREATE INDEX "review_votes_user_id_idx" ON "review_votes"("user_id");
ALTER TABLE "review_votes" ADD CONSTRAINT "review_votes_wait_id_fkey" FOREIGN KEY ("wait_id") REFERENCES "waits"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "review_votes" ADD CONSTRAINT "review_votes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;
