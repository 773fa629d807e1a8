-- Each save of an agent is a version. Agents that are there are version 1, saved when they were changed last, by whoever that was.
ALTER TABLE "agents" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;

CREATE TABLE "agent_versions" (
    "agent_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "config" JSONB NOT NULL,
    "changed" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "restored_from" INTEGER,
    "has_run" BOOLEAN NOT NULL DEFAULT false,
    "saved_by_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_versions_pkey" PRIMARY KEY ("agent_id","version")
);

ALTER TABLE "agent_versions" ADD CONSTRAINT "agent_versions_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_versions" ADD CONSTRAINT "agent_versions_saved_by_id_fkey" FOREIGN KEY ("saved_by_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

INSERT INTO "agent_versions" ("agent_id", "version", "config", "saved_by_id", "created_at")
SELECT a.id, 1, jsonb_build_object(
    'name', a.name, 'description', a.description, 'llm_key_id', a.llm_key_id, 'model', a.model, 'system_prompt', a.system_prompt,
    'temperature', a.temperature, 'max_tokens', a.max_tokens, 'tools', to_jsonb(a.tools), 'output_schema', a.output_schema,
    'mcp_server_ids', to_jsonb(ARRAY(SELECT mcp_server_id FROM agent_mcp_servers WHERE agent_id = a.id ORDER BY 1)),
    'rag_ids', to_jsonb(ARRAY(SELECT rag_source_id FROM agent_rag_sources WHERE agent_id = a.id ORDER BY 1)),
    'skill_ids', to_jsonb(ARRAY(SELECT skill_id FROM agent_skills WHERE agent_id = a.id ORDER BY 1))),
  (SELECT u.id FROM audit_log l JOIN users u ON u.id = l.actor_id
   WHERE l.project_id = a.project_id AND l.resource_type = 'agent' AND l.resource_id = a.id::text AND l.action IN ('agent.create', 'agent.update')
   ORDER BY l.id DESC LIMIT 1),
  a.updated_at
FROM agents a;
