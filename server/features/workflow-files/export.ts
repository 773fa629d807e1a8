import type { z } from "zod";
import { projectMask } from "#server/features/credentials/project-mask.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import { readSkills } from "#server/features/skills/service.ts";
import {
  type ExportWorkflowInput,
  FileAgent,
  type FileSkill,
  type ImportedAgent,
  importedAgentOf,
  type MaskedValue,
  WORKFLOW_FILE_VERSION,
  WORKFLOW_FORMAT,
  type WorkflowFile,
} from "#server/features/workflow-files/schema.ts";
import { FileMask } from "#server/features/workflow-files/secrets.ts";
import { agentIdsOf, settledGraph, workflowIdsOf } from "#server/features/workflows/checks.ts";
import { findWorkflow } from "#server/features/workflows/rows.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { inTimeSlices } from "#server/platform/time-slice.ts";
import { credentialsIn } from "#server/workflow/compiled-graph.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { workflowNode } from "#server/workflow/nodes/workflow-node.ts";
import { Graph, type GraphEdge, type GraphNode } from "#server/workflow/schema.ts";

/** Fields that stay in this installation: what an import left open, values pinned for a test, and the verify token of a webhook. */
const STAYS_HERE = ["imported_agent", "pinned", "verify_token"];

/** Keys that hold a graph together; nobody writes a secret into them. */
const FIRM = ["id", "type", "source", "target", "sourceHandle", "targetHandle"];

function* masked<Item extends GraphNode | GraphEdge>(
  item: Item,
  mask: FileMask,
  place: Pick<MaskedValue, "of" | "name">,
): Generator<void, Item> {
  const firm = Object.entries(item).filter(([key]) => FIRM.includes(key));
  const { data, ...rest } = Object.fromEntries(Object.entries(item).filter(([key]) => !FIRM.includes(key)));
  // Of a node, the fields that people see are those of its data.
  const own = data !== null && typeof data === "object" ? { data: yield* mask.fields(data, place) } : {};
  return { ...Object.fromEntries(firm), ...(yield* mask.fields(rest, place)), ...own } as Item;
}

/** Works on all items, in steps. */
function* each<Item, Result>(items: readonly Item[], work: (item: Item) => Generator<void, Result>): Generator<void, Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(yield* work(item));
  return results;
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
  const children = await childrenOf(project_id, graph, row.id);
  const all = { nodes: [graph, ...children].flatMap(({ nodes }) => nodes), edges: [] };
  const [here, known] = await Promise.all([definitionsOf(project_id, agentIdsOf(all)), projectMask(project_id, row.id)]);
  const mask = new FileMask(known);
  const keys = new Keys();
  const childKeys = new Map<string, string>();
  for (const { id, name } of children) childKeys.set(id, freeKey(name, "workflow", [...childKeys.values()]));
  const nodeOf = function* (node: GraphNode): Generator<void, GraphNode> {
    const data = Object.fromEntries(Object.entries(node.data).filter(([key]) => !STAYS_HERE.includes(key)));
    const definition = whole(here.get(String(node.data.agent_id ?? "")), importedAgentOf(node.data));
    // An agent that is in no project of ours is nobody elsewhere.
    if (definition) data.agent_id = keys.keyOf(yield* mask.fields(definition, { of: "agent", name: definition.name }));
    else if ("agent_id" in data) data.agent_id = "";
    // Versions of it are counted here only, and one that is not in the file is nobody elsewhere.
    if (node.type === workflowNode.type && "workflow_id" in data) {
      data.workflow_id = childKeys.get(String(data.workflow_id).toLowerCase()) ?? "";
      if ("version" in data) data.version = "current";
    }
    return yield* masked({ ...node, data }, mask, { of: "node", name: labelOf(node) });
  };
  const edgeOf = (edge: GraphEdge) => masked(edge, mask, { of: "connection", name: edge.id });
  const nodes = await inTimeSlices(each(graph.nodes, nodeOf));
  const childOf = function* ({ id, name, description, ...child }: Child) {
    return {
      key: childKeys.get(id) ?? "",
      name,
      description: yield* mask.text(description, { of: "workflow", name, field: "description" }),
      nodes: yield* each(child.nodes, nodeOf),
      edges: yield* each(child.edges, edgeOf),
    };
  };
  const workflows = await inTimeSlices(each(children, childOf));
  const names = (list: "mcp_servers" | "rag_sources" | "skills") => [...new Set(keys.agents.flatMap((agent) => agent[list]))].sort();
  const skills = await skillsNamed(project_id, names("skills"));
  const description = await inTimeSlices(mask.text(row.description, { of: "workflow", name: row.name, field: "description" }));
  const edges = await inTimeSlices(each(graph.edges, edgeOf));
  const maskedSkills = await inTimeSlices(each(skills, (skill) => mask.fields(skill, { of: "skill", name: skill.name })));
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
      ...(workflows.length > 0 && { workflows }),
      credentials: [...credentialsIn(all)].sort(),
    },
    ...(mask.found.length > 0 && { masked: mask.found }),
  };
}

/** Most workflows that a file brings along. */
const MOST_CHILDREN = 50;

interface Child extends Graph {
  id: string;
  name: string;
  description: string;
}

/**
 * The workflows that a graph's nodes run, and those that these run, as they are saved now; whoever is run stands before whoever
 * runs it. One that runs the exported workflow is left to find it anew, and so is what is beyond the bound.
 */
async function childrenOf(project_id: string, graph: Graph, root: string): Promise<Child[]> {
  const found = new Map<string, Child>();
  const idsIn = (of: Graph) => workflowIdsOf(of).map((id) => id.toLowerCase());
  for (let wanted = idsIn(graph); wanted.length > 0; ) {
    const rows = await db().workflow.findMany({
      where: { project_id, deleted_at: null, id: { in: wanted.filter(isUuid), not: root } },
      select: { id: true, name: true, description: true, snapshot_id: true },
      take: MOST_CHILDREN - found.size,
    });
    const snapshots = await db().workflowSnapshot.findMany({ where: { id: { in: rows.map((row) => row.snapshot_id) } } });
    const graphs = new Map(snapshots.map((snapshot) => [snapshot.id, settledGraph(Graph.parse(snapshot.graph))]));
    for (const { snapshot_id, ...row } of rows) found.set(row.id, { ...row, ...(graphs.get(snapshot_id) ?? { nodes: [], edges: [] }) });
    wanted = found.size < MOST_CHILDREN ? rows.flatMap(({ id }) => idsIn(found.get(id) ?? graph)).filter((id) => !found.has(id)) : [];
  }
  const ordered: Child[] = [];
  const seen = new Set<string>();
  const visit = (id: string): void => {
    const child = found.get(id);
    if (!child || seen.has(id)) return;
    seen.add(id);
    idsIn(child).forEach(visit);
    ordered.push(child);
  };
  idsIn(graph).forEach(visit);
  return ordered;
}

/** An agent without its name within a file. */
const Definition = FileAgent.omit({ key: true });
export type Definition = z.infer<typeof Definition>;

/** The agents of the project among `ids`, as definitions. */
export async function definitionsOf(project_id: string, ids: string[]): Promise<Map<string, Definition>> {
  const rows = await db().agent.findMany({
    where: { project_id, id: { in: ids.filter(isUuid) } },
    include: {
      llm_key: { select: { provider: true } },
      mcp_servers: { select: { mcp_server: { select: { name: true } } } },
      rag_sources: { select: { rag_source: { select: { name: true } } } },
      skills: { select: { skill_id: true } },
    },
  });
  const skills = await readSkills(project_id, [...new Set(rows.flatMap((row) => row.skills.map(({ skill_id }) => skill_id)))]);
  return new Map(
    rows.map((row) => {
      const definition = Definition.parse({
        name: row.name,
        description: row.description,
        provider: row.llm_key.provider,
        model: row.model,
        system_prompt: row.system_prompt,
        temperature: row.temperature,
        max_tokens: row.max_tokens,
        tools: row.tools,
        output_schema: row.output_schema,
        mcp_servers: row.mcp_servers.map(({ mcp_server }) => mcp_server.name).sort(),
        rag_sources: row.rag_sources.map(({ rag_source }) => rag_source.name).sort(),
        skills: row.skills.flatMap(({ skill_id }) => skills.find((skill) => skill.id === skill_id)?.name ?? []).sort(),
      });
      return [row.id, definition];
    }),
  );
}

const together = (one: readonly string[], other: readonly string[]) => [...new Set([...one, ...other])].sort();

/** An agent as it is here, with what an import left open of it. */
export function whole(here: Definition | undefined, open: ImportedAgent | undefined): Definition | undefined {
  if (!open) return here;
  const { agent_id: _, key: __, ...definition } = open;
  if (!here) return definition;
  const { mcp_servers, rag_sources, skills } = definition;
  return {
    ...here,
    mcp_servers: together(here.mcp_servers, mcp_servers),
    rag_sources: together(here.rag_sources, rag_sources),
    skills: together(here.skills, skills),
  };
}

/** Gives equal definitions one key, and different ones different keys. */
export class Keys {
  readonly agents: FileAgent[] = [];
  readonly #known = new Map<string, string>();

  keyOf(definition: Definition): string {
    const content = JSON.stringify(definition);
    const known = this.#known.get(content);
    if (known !== undefined) return known;
    const key = freeKey(
      definition.name,
      "agent",
      this.agents.map((agent) => agent.key),
    );
    this.#known.set(content, key);
    this.agents.push({ key, ...definition });
    return key;
  }
}

/** The skills of these names, as they are here; what is built in goes by its name alone. */
export async function skillsNamed(project_id: string, names: readonly string[]): Promise<FileSkill[]> {
  const builtin = names.filter((name) => builtinSkills.some((skill) => skill.name === name));
  const own = names.filter((name) => !builtin.includes(name));
  const rows = own.length ? await db().skill.findMany({ where: { project_id, name: { in: own } } }) : [];
  const skills: FileSkill[] = [
    ...builtin.map((name) => ({ name, description: "", prompt: null, model: "" })),
    ...rows.map(({ name, description, prompt, model }) => ({ name, description, prompt, model: model ?? "" })),
  ];
  return skills.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A key within a file, made of a name: letters, digits and dashes, with a number where it is taken. */
function freeKey(name: string, otherwise: string, taken: readonly string[]): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 50);
  const base = slug || otherwise;
  let key = base;
  for (let number = 2; taken.includes(key); number++) key = `${base}-${number}`;
  return key;
}
