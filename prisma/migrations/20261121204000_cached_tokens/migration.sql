-- AlterTable
ALTER TABLE "node_runs" ADD COLUMN     "cached_tokens" INTEGER NOT NULL DEFAULT 0;
