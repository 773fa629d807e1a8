import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { CheckImportInput, ImportCheck } from "#server/schemas/workflow-file.ts";
import { findNeeds, type Needs } from "#server/services/workflow-files/find-needs.ts";
import { readWorkflowFile } from "#server/services/workflow-files/read-workflow-file.ts";
import { triggerKind } from "#server/services/workflows/checked-graph.ts";

const linkable = (needs: Needs, list: "mcp_servers" | "rag_sources") =>
  [...needs[list]].map(([name, existing]) => ({
    name,
    existing: existing ?? null,
    agents: needs.agents.flatMap(({ definition }) => (definition?.[list].includes(name) ? [definition.name] : [])),
  }));

/**
 * What an import of this file would have to link. Changes nothing.
 * @throws AppError VALIDATION_ERROR for what is no workflow file, or a graph with structural faults
 */
export async function checkImport({ project }: ProjectPrincipal, input: CheckImportInput): Promise<ImportCheck> {
  const file = readWorkflowFile(input.file);
  const needs = await findNeeds(project.id, file);
  const agents = needs.agents.map(({ key, definition, existing, nodes }) => ({
    key,
    name: definition?.name ?? existing?.name ?? "",
    model: definition?.model ?? "",
    provider: definition?.provider ?? null,
    needs_tools: definition !== undefined && definition.tools.length + definition.mcp_servers.length + definition.rag_sources.length > 0,
    is_defined: definition !== undefined,
    existing: existing ?? null,
    nodes,
  }));
  return {
    name: file.name,
    description: file.description,
    node_count: file.nodes.length,
    trigger: triggerKind(file),
    agents,
    mcp_servers: linkable(needs, "mcp_servers"),
    rag_sources: linkable(needs, "rag_sources"),
    skills: [...needs.skills].map(([name, existing]) => ({ name, exists: existing !== undefined })),
    credentials: needs.credentials,
    masked: file.masked ?? [],
    is_complete: agents.every(({ existing }) => existing !== null) && needs.credentials.every(({ exists }) => exists),
  };
}
