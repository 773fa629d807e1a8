-- What an account had when its address was proven is put aside until its owner decides.
ALTER TABLE "users" ADD COLUMN "put_aside" JSONB;
ALTER TABLE "invitations" ADD COLUMN "put_aside_at" TIMESTAMPTZ(3);
ALTER TABLE "canvases" ADD COLUMN "shared_by_id" UUID;

-- Who created a service account and who shared a canvas was in the audit log only.
UPDATE "users" SET "made_by_id" = made."actor_id"
FROM "audit_log" made JOIN "users" maker ON maker."id" = made."actor_id"
WHERE "users"."service_project_id" IS NOT NULL AND made."project_id" = "users"."service_project_id"
  AND made."action" = 'service_account.create' AND made."resource_id" = "users"."id"::text;
UPDATE "canvases" SET "shared_by_id" = (
  SELECT shared."actor_id" FROM "audit_log" shared
  WHERE shared."project_id" = "canvases"."project_id" AND shared."resource_type" = 'canvas'
    AND shared."resource_id" = "canvases"."id"::text AND shared."action" = 'canvas.share'
  ORDER BY shared."id" DESC LIMIT 1)
WHERE "share_token_hash" IS NOT NULL;
