-- AlterTable
ALTER TABLE "node_run_values" ADD COLUMN     "input_hash" TEXT,
ADD COLUMN     "output_hash" TEXT;

-- CreateTable
CREATE TABLE "run_texts" (
    "execution_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "run_texts_pkey" PRIMARY KEY ("execution_id","hash")
);

-- AddForeignKey
ALTER TABLE "run_texts" ADD CONSTRAINT "run_texts_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
