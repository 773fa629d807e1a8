-- The words of a workflow with an index, so that a search does not read all texts of a project.
ALTER TABLE "workflow_texts" ADD COLUMN "search" tsvector;
UPDATE "workflow_texts" t SET "search" = to_tsvector('simple', lower(w.name || ' ' || w.description) || ' ' || t.text)
FROM "workflows" w WHERE w.id = t.workflow_id;
ALTER TABLE "workflow_texts" ALTER COLUMN "search" SET NOT NULL, DROP COLUMN "text";
CREATE INDEX "workflow_texts_search_idx" ON "workflow_texts" USING GIN ("search");
