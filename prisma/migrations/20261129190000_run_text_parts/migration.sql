-- A long text is kept in parts, so that it is never sent to the database, or read from it, as one parameter. Those that are there are of one part.
-- AlterTable
ALTER TABLE "run_texts" ADD COLUMN     "part" INTEGER NOT NULL DEFAULT 0,
DROP CONSTRAINT "run_texts_pkey",
ADD CONSTRAINT "run_texts_pkey" PRIMARY KEY ("execution_id", "hash", "part");
