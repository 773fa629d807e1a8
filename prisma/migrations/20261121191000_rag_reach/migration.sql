-- AlterTable
ALTER TABLE "rag_sources" ADD COLUMN     "private_allowed" BOOLEAN NOT NULL DEFAULT false;

-- Sources that are there already keep their reach, since whoever configured them was allowed to.
UPDATE "rag_sources" SET "private_allowed" = true;
