import { credentialNames } from "#server/features/credentials/values.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { pathFault } from "#server/platform/json-path.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { codeFault } from "#server/runs/effects/code.ts";
import { conditionFault } from "#server/runs/effects/conditions.ts";
import { type AgentNames, agentNames } from "#server/runs/store/agent-names.ts";
import { mayReadCredentials } from "#server/workflow/compiled-graph.ts";
import { CronError, checkCron } from "#server/workflow/cron.ts";
import { checkSave, type GraphFault, labelOf, withNamedHandles } from "#server/workflow/graph.ts";
import { type Listed, MAX_LISTED, runInSlices } from "#server/workflow/listing.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { humanLoopNode } from "#server/workflow/nodes/human-loop-node.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import { workflowNode } from "#server/workflow/nodes/workflow-node.ts";
import { checkGraph, type Problems, visitChecks } from "#server/workflow/problems.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** Ids of the agents that a graph names. */
export const agentIdsOf = (graph: Graph): string[] => [
  ...new Set(graph.nodes.map((node) => node.data.agent_id).filter((id): id is string => typeof id === "string" && id !== "")),
];

/**
 * What the checks of a graph may look up in its project.
 * @param agents names of agents that the caller has found
 */
export async function graphScope(project_id: string, graph: Graph, agents: AgentNames = null): Promise<NodeScope> {
  const readsCredentials = mayReadCredentials(graph);
  const [names, credentials, workflows, reviewers] = await Promise.all([
    agentNames(project_id, agentIdsOf(graph), agents),
    readsCredentials ? credentialNames(project_id) : undefined,
    workflowNames(project_id, workflowIdsOf(graph)),
    reviewersAmong(project_id, reviewersOf(graph)),
  ]);
  const isReviewer = (value: string) => reviewers.has(value.toLowerCase());
  return { isReviewer, agentName: (id) => names.get(id), credentialNames: credentials, workflowName: (id) => workflows.get(id) };
}

/** People whom the reviews of a graph name, by id or address. */
const reviewersOf = (graph: Graph): string[] =>
  graph.nodes.flatMap(({ type, data }) => {
    const { assignees } = type === humanLoopNode.type ? (humanLoopNode.config.safeParse(data).data ?? {}) : {};
    return (assignees ?? []).flatMap(({ kind, value }) => (kind === "user" ? [value.toLowerCase()] : []));
  });

/** Those of them who may decide reviews of the project. */
async function reviewersAmong(project_id: string, named: readonly string[]): Promise<ReadonlySet<string>> {
  if (named.length === 0) return new Set();
  const rows = await db().membership.findMany({
    where: { project_id, role: { not: "viewer" }, user: { OR: [{ id: { in: named.filter(isUuid) } }, { email: { in: [...named] } }] } },
    select: { user: { select: { id: true, email: true } } },
  });
  return new Set(rows.flatMap(({ user }) => [user.id, user.email]));
}

async function workflowNames(project_id: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const known = ids.filter(isUuid);
  if (known.length === 0) return new Map();
  const rows = await db().workflow.findMany({
    where: { project_id, deleted_at: null, id: { in: known } },
    select: { id: true, name: true },
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** What is wrong with the values of a trigger that only a parser can tell, by field. An empty one is merely not filled in yet. */
function faultOf({ kind, ...config }: ReturnType<typeof triggerNode.config.parse>): { field: string; message: string } | undefined {
  if (kind === "webhook") {
    const message = pathFault(config.payload_path, "The payload path", "$.issue.title");
    return message === undefined ? undefined : { field: "payload_path", message };
  }
  if (kind !== "schedule" || config.cron_expression.trim() === "") return undefined;
  try {
    checkCron(config, new Date());
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return { field: error.field, message: error.message };
    throw error;
  }
}

/** A schedule that cannot be kept or a payload path that cannot be read, which a save refuses (contract, section 4). */
export function triggerFaults(graph: Graph): GraphFault[] {
  return graph.nodes.flatMap((node, index) => {
    const config = node.type === triggerNode.type ? triggerNode.config.safeParse(node.data) : undefined;
    const fault = config?.success ? faultOf(config.data) : undefined;
    if (!fault) return [];
    const message = `Node "${node.id}" (${labelOf(node)}): ${fault.message}`;
    return [{ path: `nodes.${index}.data.${fault.field}`, node_id: node.id, field: `data.${fault.field}`, message }];
  });
}

/** Ids of the workflows that a graph's nodes run. */
export const workflowIdsOf = (graph: Graph): string[] => [
  ...new Set(
    graph.nodes.flatMap(({ type, data }) => (type === workflowNode.type && typeof data.workflow_id === "string" ? [data.workflow_id] : [])),
  ),
];

/** Nodes by which a workflow would run itself, which a save refuses; by way of another one it is found when it runs. */
function selfCalls(graph: Graph, workflow_id: string | undefined): GraphFault[] {
  return graph.nodes.flatMap((node, index) => {
    if (workflow_id === undefined || node.type !== workflowNode.type || node.data.workflow_id !== workflow_id) return [];
    const message = `Node "${node.id}" (${labelOf(node)}) would run its own workflow, and so never end. Choose another workflow.`;
    return [{ path: `nodes.${index}.data.workflow_id`, node_id: node.id, field: "data.workflow_id", message }];
  });
}

/** For all conditions of a graph together, in milliseconds: one that is made for it could take a second. */
const CHECK_MS = 2000;

/**
 * Checks a graph, its Python included, without blocking the process. Conditions and code are checked one after the other in another
 * process; those that two seconds do not suffice for count as valid.
 * @param scope as `graphScope` returned it
 */
export async function problemsOf(project_id: string, graph: Graph, scope: NodeScope): Promise<Problems> {
  const faults = new Map<string, string | undefined>();
  const unknown = new Map<string, (signal: AbortSignal) => Promise<string | undefined>>();
  const known = (key: string, check: (signal: AbortSignal) => Promise<string | undefined>) => {
    if (!faults.has(key)) unknown.set(key, check);
    return faults.get(key);
  };
  const whole: NodeScope = {
    ...scope,
    conditionFault: (condition) => known(condition, (signal) => conditionFault(condition, project_id, signal)),
    codeFault: (code, inputs) => known(JSON.stringify([code, inputs]), (signal) => codeFault(code, inputs, project_id, signal)),
  };
  await runInSlices(visitChecks(graph, whole));
  const signal = AbortSignal.timeout(CHECK_MS);
  for (const [key, check] of unknown) {
    if (signal.aborted) break;
    faults.set(key, await check(signal).catch(() => undefined));
  }
  return runInSlices(checkGraph(graph, whole));
}

/** What React Flow adds while a canvas is open; it says nothing about the workflow. */
const VOLATILE = ["selected", "dragging", "resizing", "measured"];

const settled = <Item extends Graph["nodes"][number] | Graph["edges"][number]>(item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([key]) => !VOLATILE.includes(key))) as Item;

/** A graph as it is kept: without what only the open canvas needs, its edges with the names of the ways that they mean. */
export const settledGraph = (graph: Graph): Graph => {
  const { nodes, edges } = withNamedHandles(graph);
  return { nodes: nodes.map(settled), edges: edges.map(settled) };
};

/** The refusal of a graph, with its first 50 faults and the number of all. */
function refuse({ items, total }: Listed<GraphFault>): AppError {
  const more = total > 1 ? ` (and ${total - 1} more)` : "";
  const errors = items.map(({ path, message }) => ({ path, message }));
  return new AppError("VALIDATION_ERROR", `${items[0]?.message}${more}`, { errors, total });
}

/**
 * Returns the graph in the form in which it is stored.
 * @param stored the graph that it replaces, whose names stay allowed
 * @throws AppError VALIDATION_ERROR with the first 50 structural faults and their total
 */
export async function checkedGraph(graph: Graph, { workflow_id, stored }: { workflow_id?: string; stored?: Graph } = {}): Promise<Graph> {
  const faults = await runInSlices(checkSave(graph, stored));
  if (faults.total > 0) throw refuse(faults);
  const further = [...triggerFaults(graph), ...selfCalls(graph, workflow_id)];
  if (further.length > 0) throw refuse({ items: further.slice(0, MAX_LISTED), total: further.length });
  return settledGraph(graph);
}

/** What a workflow starts with: one manual trigger. */
export const firstGraph = (): Graph => ({
  nodes: [{ id: "trigger", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual", default_input: "" } }],
  edges: [],
});

/** The one trigger of a saved graph. */
export const triggerOf = (graph: Graph): GraphNode | undefined => graph.nodes.find((node) => node.type === "triggerNode");

/** Kind of the trigger, for lists. */
export function triggerKind(graph: Graph): string {
  const kind = triggerOf(graph)?.data.kind;
  return typeof kind === "string" ? kind : "manual";
}
