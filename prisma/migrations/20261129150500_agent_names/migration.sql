-- Names under which expressions read agents, kept with what was stored under them, so that a rename changes no earlier run.
ALTER TABLE "agents" ADD COLUMN "former_names" TEXT[] DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "workflow_snapshots" ADD COLUMN "agent_names" JSONB;
ALTER TABLE "workflow_drafts" ADD COLUMN "renames" JSONB;

UPDATE "workflow_snapshots" s
SET "agent_names" = n.names
FROM (
  SELECT u.id, jsonb_object_agg(a.id, a.name) AS names
  FROM (
    SELECT DISTINCT k.id, w.project_id, used.agent_id #>> '{}' AS agent_id
    FROM "workflow_snapshots" k
    JOIN "workflows" w ON w.id = k.workflow_id
    CROSS JOIN LATERAL jsonb_path_query(k.graph, '$.nodes[*].data.agent_id') AS used(agent_id)
  ) u
  JOIN "agents" a ON a.id::text = u.agent_id AND a.project_id = u.project_id
  GROUP BY u.id
) n
WHERE s.id = n.id;

ALTER TABLE "project_storage" ADD COLUMN "other" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "idempotency_keys" ADD COLUMN "resource" TEXT;
