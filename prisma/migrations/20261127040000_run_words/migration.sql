-- What runs are found by: words of input, output and error, with marks for project, workflow and trigger.
ALTER TABLE "execution_values" ADD COLUMN "words" tsvector;

-- Runs that are there already. Words are split as the service does it, as far as ASCII goes.
UPDATE "execution_values" v SET "words" = array_to_tsvector(ARRAY(
    SELECT word FROM (
      SELECT DISTINCT left(word, 40) AS word
      FROM regexp_split_to_table(
        lower(left(v.input, 8000) || ' ' || coalesce(left(v.output, 8000), '') || ' ' || coalesce(left(e.error, 8000), '')),
        '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+') AS word
      WHERE word <> '' LIMIT 2000
    ) AS words
    UNION SELECT unnest(ARRAY['project:' || e.project_id, 'workflow:' || e.workflow_id, 'trigger:' || e.trigger])
  ))
FROM "executions" e WHERE e.id = v.execution_id;

CREATE INDEX "execution_values_words_idx" ON "execution_values" USING GIN ("words");
