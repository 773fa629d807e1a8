-- Names of long texts in run_texts, from where they are read in parts. Those that are there are read from their columns, as before.
ALTER TABLE "execution_values" ADD COLUMN     "output_hash" TEXT;

ALTER TABLE "waits" ADD COLUMN     "display_value_hash" TEXT,
ADD COLUMN     "text_hash" TEXT;

-- Characters of a text, so that it need not be unpacked to be counted. Earlier releases leave them out.
ALTER TABLE "run_texts" ADD COLUMN     "characters" INTEGER;
