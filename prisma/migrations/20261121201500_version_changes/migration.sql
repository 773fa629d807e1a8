-- AlterTable
ALTER TABLE "workflow_versions" ADD COLUMN     "changes" JSONB;
