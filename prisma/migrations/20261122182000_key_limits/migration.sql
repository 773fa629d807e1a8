-- AlterTable
ALTER TABLE "platform_keys" ADD COLUMN     "prefix" TEXT,
ADD COLUMN     "scopes" TEXT[] DEFAULT ARRAY['read', 'run', 'write']::TEXT[],
ADD COLUMN     "project_ids" UUID[] DEFAULT ARRAY[]::UUID[],
ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_used_ip" TEXT;
