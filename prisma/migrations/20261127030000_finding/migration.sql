-- Tags and folders of workflows.
ALTER TABLE "workflows" ADD COLUMN "tags" TEXT[] DEFAULT ARRAY[]::TEXT[], ADD COLUMN "folder" TEXT;

-- What stands in the nodes of the current version, for the search.
CREATE TABLE "workflow_texts" (
  "workflow_id" UUID NOT NULL,
  "text" TEXT NOT NULL,
  CONSTRAINT "workflow_texts_pkey" PRIMARY KEY ("workflow_id")
);
ALTER TABLE "workflow_texts" ADD CONSTRAINT "workflow_texts_workflow_id_fkey"
  FOREIGN KEY ("workflow_id") REFERENCES "workflows"("id") ON DELETE CASCADE ON UPDATE CASCADE;

INSERT INTO "workflow_texts" ("workflow_id", "text")
SELECT w.id, lower(left((
  SELECT coalesce(string_agg(t #>> '{}', E'\n'), '') FROM jsonb_path_query(s.graph, 'strict $.nodes[*].data.** ? (@.type() == "string")') AS t
), 8000))
FROM "workflows" w JOIN "workflow_snapshots" s ON s.id = w.snapshot_id WHERE w.deleted_at IS NULL;
