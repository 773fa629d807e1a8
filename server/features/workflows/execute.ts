import { agentIdsOf, graphScope, problemsOf, triggerOf, workflowIdsOf } from "#server/features/workflows/checks.ts";
import { passedOn } from "#server/features/workflows/payload.ts";
import { snapshotOf } from "#server/features/workflows/snapshots.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { readTogether } from "#server/platform/db/read-together.ts";
import { AppError, invalidField, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import type { ExecuteInput, ExecuteResult } from "#server/runs/schema.ts";
import { AGENTS_OF_WORKFLOW, type AgentNames, agentNames } from "#server/runs/store/agent-names.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { starterOf } from "#server/runs/use-cases/run-scope.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import type { NodeScope } from "#server/workflow/nodes/definition.ts";
import { ParameterError, paramValues } from "#server/workflow/nodes/params.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import { Graph } from "#server/workflow/schema.ts";

interface Found {
  version: number;
  snapshot_id: string;
  draft: unknown;
  agents: AgentNames;
}

const WORKFLOW = {
  name: "workflow-to-run",
  text: `SELECT w.version, w.snapshot_id, d.graph AS draft, ${AGENTS_OF_WORKFLOW}
         FROM workflows w LEFT JOIN workflow_drafts d ON d.workflow_id = w.id AND $3::boolean
         WHERE w.id = $1 AND w.project_id = $2 AND w.deleted_at IS NULL`,
};

/**
 * The saved graph, or the draft or another graph kept as a snapshot so that the run can always be looked at as it was; with the
 * names of the workflow's agents.
 * @throws AppError NOT_FOUND; CONFLICT when there is no room to keep the draft
 */
export async function graphToRun(project_id: string, workflow_id: string, instead?: "draft" | Graph) {
  if (!isUuid(workflow_id)) throw notFound("workflow");
  const values = [workflow_id, project_id, instead === "draft"];
  const [workflow] = await readTogether<Found>({ ...WORKFLOW, values });
  if (!workflow) throw notFound("workflow");
  const { version, snapshot_id, agents } = workflow;
  const graph: Graph | undefined = typeof instead === "object" ? instead : workflow.draft ? Graph.parse(workflow.draft) : undefined;
  if (graph) {
    await assertRoom(project_id);
    const names = Object.fromEntries(await agentNames(project_id, agentIdsOf(graph), agents));
    const stored = { ...names, ...graph.agent_names };
    return { graph, agents, version: null, snapshot_id: await snapshotOf({ project_id, workflow_id }, graph, stored) };
  }
  return { graph: await snapshotGraph(snapshot_id), agents, version, snapshot_id };
}

/**
 * What the trigger gives: its text, and for a params trigger the values.
 * @throws AppError VALIDATION_ERROR for a value that the trigger does not take
 */
export function triggerValues(graph: Graph, { input, params }: Pick<ExecuteInput, "input" | "params">) {
  const trigger = triggerNode.config.parse(triggerOf(graph)?.data);
  const { kind } = trigger;
  if (kind !== "params") {
    if (params && Object.keys(params).length)
      throw invalidField("params", "This workflow's trigger takes `input`, a text. It has no parameters.");
    if (kind === "manual") return { trigger: kind, input: input ?? trigger.default_input, params: null };
    return { trigger: "api" as const, input: input || (kind === "schedule" ? trigger.default_input : ""), params: null };
  }
  if (input) throw invalidField("input", "This workflow's trigger takes `params`, an object of values by name.");
  try {
    const values = paramValues(trigger.parameters, params ?? {});
    return { trigger: kind, input: JSON.stringify(values), params: values };
  } catch (error) {
    if (error instanceof ParameterError) throw invalidField(`params.${error.parameter}`, error.message);
    throw error;
  }
}

/**
 * Like `triggerValues`, of a run that stands for a call of its trigger: `input` of a webhook is its payload.
 * @throws AppError VALIDATION_ERROR also for a payload without the part that the trigger passes on
 */
export function calledValues(graph: Graph, given: Pick<ExecuteInput, "input" | "params">) {
  const values = triggerValues(graph, given);
  const { kind, payload_path } = triggerNode.config.parse(triggerOf(graph)?.data);
  if (kind !== "webhook" || payload_path.trim() === "" || values.input === "") return values;
  const input = passedOn(payload_path, values.input, "input");
  return { ...values, input, params: { raw: values.input } };
}

/**
 * Starts a run of the saved version and answers at once.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when something in the graph would stop the run or a value does not fit;
 *   RATE_LIMIT_EXCEEDED when the project has used up its hour
 */
export async function executeWorkflow(principal: ProjectPrincipal, input: ExecuteInput): Promise<ExecuteResult> {
  const project_id = principal.project.id;
  const { graph, agents, version, snapshot_id } = await graphToRun(project_id, input.workflow_id);
  const names = await assertRunnable(project_id, graph, agents);
  return startExecution({
    project_id,
    workflow_id: input.workflow_id,
    workflow_version: version,
    snapshot_id,
    graph,
    names,
    ...starterOf(principal),
    ...calledValues(graph, input),
    ...byAssistant(principal),
  });
}

/** What started a run that the assistant starts for somebody, whatever the kind of its workflow's trigger. */
export const byAssistant = ({ auth }: ProjectPrincipal) => auth.type === "assistant" && ({ trigger: "assistant" } as const);

/** What the agents of a graph and the credentials of its project were called when nothing in it would have stopped a run. */
const sound = new WeakMap<Graph, string>();

/**
 * Makes sure that nothing in the graph would stop a run.
 * @param agents names of agents that the caller has found
 * @returns what it has looked up, such as the names of the agents
 * @throws AppError VALIDATION_ERROR with the first 50 problems, each with its node and field, and their total
 */
export async function assertRunnable(project_id: string, graph: Graph, agents: AgentNames = null): Promise<NodeScope> {
  const scope = await graphScope(project_id, graph, agents);
  // Of its project a graph asks the names of its agents and of credentials alone: with the same ones the answer is the same.
  const names = JSON.stringify([
    agentIdsOf(graph).map((id) => scope.agentName(id) ?? null),
    scope.credentialNames ?? [],
    workflowIdsOf(graph).map((id) => scope.workflowName?.(id) !== undefined),
  ]);
  if (sound.get(graph) === names) return scope;
  const { problems, errors: total } = await problemsOf(project_id, graph, scope);
  if (total === 0) {
    sound.set(graph, names);
    return scope;
  }
  const errors = problems.flatMap(({ node_id, field, message, severity }) =>
    severity === "error" ? [{ path: [node_id ?? "workflow", field].filter(Boolean).join("."), message }] : [],
  );
  throw new AppError("VALIDATION_ERROR", `The workflow cannot run yet: ${problems[0]?.message}`, { errors, total });
}
