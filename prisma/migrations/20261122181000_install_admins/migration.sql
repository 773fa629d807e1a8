-- AlterTable
ALTER TABLE "users" ADD COLUMN     "is_install_admin" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "llm_keys" ADD COLUMN     "private_allowed" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "credentials" ADD COLUMN     "private_allowed" BOOLEAN NOT NULL DEFAULT false;

-- Whoever was here first set the install up.
UPDATE "users" SET "is_install_admin" = true
WHERE "id" = (SELECT "id" FROM "users" WHERE "deleted_at" IS NULL ORDER BY "created_at", "id" LIMIT 1);

-- Until now the admins of each project could choose private addresses. What stands in the projects of the install admin goes on
-- working. In all others an install admin has to save the address again.
UPDATE "rag_sources" SET "private_allowed" = false WHERE "project_id" NOT IN (
  SELECT p."id" FROM "projects" p JOIN "users" u ON u."id" = p."owner_id" WHERE u."is_install_admin");
UPDATE "mcp_servers" SET "private_allowed" = false WHERE "project_id" NOT IN (
  SELECT p."id" FROM "projects" p JOIN "users" u ON u."id" = p."owner_id" WHERE u."is_install_admin");
UPDATE "llm_keys" SET "private_allowed" = true WHERE "base_url" IS NOT NULL AND "project_id" IN (
  SELECT p."id" FROM "projects" p JOIN "users" u ON u."id" = p."owner_id" WHERE u."is_install_admin");
UPDATE "credentials" SET "private_allowed" = true WHERE "name" = 'SEARXNG_URL' AND "project_id" IN (
  SELECT p."id" FROM "projects" p JOIN "users" u ON u."id" = p."owner_id" WHERE u."is_install_admin");
