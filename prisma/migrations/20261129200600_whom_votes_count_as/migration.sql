-- Who made the keys of service accounts. Of keys from before this table the audit log knows it.
CREATE TABLE "service_key_makers" (
    "key_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "made_by_id" UUID NOT NULL,

    CONSTRAINT "service_key_makers_pkey" PRIMARY KEY ("key_id")
);

CREATE INDEX "service_key_makers_account_id_idx" ON "service_key_makers"("account_id");
CREATE INDEX "service_key_makers_made_by_id_idx" ON "service_key_makers"("made_by_id");

ALTER TABLE "service_key_makers" ADD CONSTRAINT "service_key_makers_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "service_key_makers" ADD CONSTRAINT "service_key_makers_made_by_id_fkey" FOREIGN KEY ("made_by_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

INSERT INTO "service_key_makers" ("key_id", "account_id", "made_by_id")
SELECT (l."detail"->>'key_id')::uuid, a."id", m."id"
FROM "audit_log" l JOIN "users" a ON a."id"::text = l."resource_id" JOIN "users" m ON m."id" = l."actor_id"
WHERE l."action" = 'service_account.create_key' AND l."detail"->>'key_id' IS NOT NULL
ON CONFLICT DO NOTHING;

-- Whom admins have removed, and who is not back.
CREATE TABLE "removed_members" (
    "project_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "removed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "removed_members_pkey" PRIMARY KEY ("project_id","email")
);

ALTER TABLE "removed_members" ADD CONSTRAINT "removed_members_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "projects"("id") ON DELETE CASCADE ON UPDATE CASCADE;

INSERT INTO "removed_members" ("project_id", "email", "removed_at")
SELECT l."project_id", lower(l."resource_name"), max(l."created_at")
FROM "audit_log" l
WHERE l."action" = 'member.remove' AND NOT EXISTS (
  SELECT 1 FROM "memberships" m JOIN "users" u ON u."id" = m."user_id" WHERE m."project_id" = l."project_id" AND u."email" = lower(l."resource_name"))
GROUP BY l."project_id", lower(l."resource_name");

-- A vote was known by the account, or by the address where the voter had none, so that one person could count as two.
DELETE FROM "review_votes" a USING "review_votes" b WHERE a."wait_id" = b."wait_id" AND lower(a."email") = lower(b."email") AND a."id" < b."id";
UPDATE "review_votes" SET "voter" = lower("email");
