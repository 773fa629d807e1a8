import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { labelOf } from "#server/engine/graph.ts";
import { credentialsIn } from "#server/engine/node-facts.ts";
import { Graph, type GraphEdge, type GraphNode } from "#server/schemas/graph.ts";
import {
  type ExportWorkflowInput,
  importedAgentOf,
  type MaskedValue,
  WORKFLOW_FILE_VERSION,
  WORKFLOW_FORMAT,
  type WorkflowFile,
} from "#server/schemas/workflow-file.ts";
import { projectMask } from "#server/services/credentials/project-mask.ts";
import { definitionsOf, Keys, skillsNamed, whole } from "#server/services/workflow-files/file-agents.ts";
import { FileMask } from "#server/services/workflow-files/file-mask.ts";
import { settledGraph } from "#server/services/workflows/checked-graph.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";
import { agentIdsOf } from "#server/services/workflows/graph-scope.ts";

/** Of this installation: what an import left open, and values that somebody pinned for a test. */
const STAYS_HERE = ["imported_agent", "pinned"];

/** Keys that hold a graph together; nobody writes a secret into them. */
const FIRM = ["id", "type", "source", "target", "sourceHandle", "targetHandle"];

function masked<Item extends GraphNode | GraphEdge>(item: Item, mask: FileMask, place: Pick<MaskedValue, "of" | "name">): Item {
  const firm = Object.entries(item).filter(([key]) => FIRM.includes(key));
  const { data, ...rest } = Object.fromEntries(Object.entries(item).filter(([key]) => !FIRM.includes(key)));
  // Of a node, the fields that people see are those of its data.
  const own = data !== null && typeof data === "object" ? { data: mask.fields(data, place) } : {};
  return { ...Object.fromEntries(firm), ...mask.fields(rest, place), ...own } as Item;
}

/**
 * A workflow as one file: its graph, and what it needs by name. Without ids of this installation, without secrets (those
 * that somebody typed into a text, and what looks like one of another service, are masked and listed), without pinned outputs.
 * @throws AppError NOT_FOUND
 */
export async function exportWorkflow(principal: ProjectPrincipal, { workflow_id, draft }: ExportWorkflowInput): Promise<WorkflowFile> {
  const project_id = principal.project.id;
  const row = await findWorkflow(principal, workflow_id, { id: true, name: true, description: true, snapshot_id: true });
  const stored = draft
    ? await db().workflowDraft.findUniqueOrThrow({ where: { workflow_id: row.id }, select: { graph: true } })
    : await db().workflowSnapshot.findUniqueOrThrow({ where: { id: row.snapshot_id }, select: { graph: true } });
  const graph = settledGraph(Graph.parse(stored.graph));
  const [here, known] = await Promise.all([definitionsOf(project_id, agentIdsOf(graph)), projectMask(project_id, row.id)]);
  const mask = new FileMask(known);
  const keys = new Keys();
  const nodeOf = (node: GraphNode): GraphNode => {
    const data = Object.fromEntries(Object.entries(node.data).filter(([key]) => !STAYS_HERE.includes(key)));
    const definition = whole(here.get(String(node.data.agent_id ?? "")), importedAgentOf(node.data));
    // An agent that is in no project of ours is nobody elsewhere.
    if (definition) data.agent_id = keys.keyOf(mask.fields(definition, { of: "agent", name: definition.name }));
    else if ("agent_id" in data) data.agent_id = "";
    return masked({ ...node, data }, mask, { of: "node", name: labelOf(node) });
  };
  const nodes = graph.nodes.map(nodeOf);
  const names = (list: "mcp_servers" | "rag_sources" | "skills") => [...new Set(keys.agents.flatMap((agent) => agent[list]))].sort();
  const skills = await skillsNamed(project_id, names("skills"));
  const description = mask.text(row.description, { of: "workflow", name: row.name, field: "description" });
  const edges = graph.edges.map((edge) => masked(edge, mask, { of: "connection", name: edge.id }));
  const maskedSkills = skills.map((skill) => mask.fields(skill, { of: "skill", name: skill.name }));
  return {
    format: WORKFLOW_FORMAT,
    version: WORKFLOW_FILE_VERSION,
    name: row.name,
    description,
    nodes,
    edges,
    requires: {
      agents: keys.agents,
      mcp_servers: names("mcp_servers").map((name) => ({ name })),
      rag_sources: names("rag_sources").map((name) => ({ name })),
      skills: maskedSkills,
      credentials: [...credentialsIn(graph)].sort(),
    },
    ...(mask.found.length > 0 && { masked: mask.found }),
  };
}
