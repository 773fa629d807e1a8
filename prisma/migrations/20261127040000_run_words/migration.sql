-- What runs are found by: words of input, output and error, with marks for project, workflow and trigger. Runs that are there already
-- get theirs in the background (server/runs/store/missing-words.ts): a million rows would take a quarter of an hour here.
ALTER TABLE "execution_values" ADD COLUMN "words" tsvector;

CREATE INDEX "execution_values_words_idx" ON "execution_values" USING GIN ("words");
