import type pg from "pg";
import { assertRunnable, graphToRun } from "#server/features/workflows/execute.ts";
import { repeatedValues, resultsBeside, resultsWithoutTrigger } from "#server/features/workflows/repeated-values.ts";
import { resultsThatHold } from "#server/features/workflows/results-that-hold.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField } from "#server/platform/errors.ts";
import type { RerunInput, RerunResult } from "#server/runs/schema.ts";
import { findOriginal } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { topLevelEnds } from "#server/runs/store/node-results.ts";
import { cutGraph, givenResults } from "#server/runs/use-cases/cut-graph.ts";
import { runScopeOf, starterOf } from "#server/runs/use-cases/run-scope.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { dependentsOf } from "#server/workflow/compile.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { definitionOf, goesOnAfterFailure } from "#server/workflow/graph.ts";
import { type NodeProgress, progressOf } from "#server/workflow/node-progress.ts";
import { pinnedWork, withPins } from "#server/workflow/pins.ts";
import { givenWithout } from "#server/workflow/run-until.ts";
import { Schedule } from "#server/workflow/scheduler.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How a node of the original ended, and its type there. */
type Ended = ReadonlyMap<string, NodeProgress & { type: string }>;

/**
 * Ids of the nodes whose results the new run takes over: everything that has finished and depends neither on `from` nor on
 * what the original did not run, which the graph may have by now.
 * @param graph as it is played, with its pins when they count
 */
function reusedNodes(graph: Graph, from: string, ended: Ended): string[] {
  const plan = runPlan(graph);
  const [loop] = plan.loopsAround(from);
  if (loop !== undefined) throw invalidField("from_node_id", `"${from}" runs inside a loop. Run the loop again: from_node_id "${loop}".`);
  const top = plan.scopes.get(null);
  if (!top) return [];
  const again = dependentsOf(top, from);
  const types = new Map(graph.nodes.map(({ id, type }) => [id, type]));
  const isSame = (id: string) => (ended.get(id)?.type ?? types.get(id)) === types.get(id);
  const resultOf = (id: string) => (again.has(id) || !isSame(id) ? undefined : ended.get(id));
  // A pinned output waits for nothing: a run that went only as far as one node has left out what comes before it.
  const given = new Map<string, NodeProgress>();
  for (const node of graph.nodes) {
    const before = pinnedWork(node) && resultOf(node.id);
    if (before) given.set(node.id, before);
  }
  const taken = new Set(given.keys());
  // As the new run will go, as far as known results lead: what comes after a node without one has to wait for it.
  const schedule = new Schedule(top, undefined, given);
  for (let ready = schedule.takeReady(); ready.length > 0; ready = schedule.takeReady())
    for (const id of ready) {
      const before = resultOf(id);
      if (!before) continue;
      taken.add(id);
      schedule.end(id, before);
    }
  return graph.nodes.filter(({ id }) => taken.has(plan.loopsAround(id)[0] ?? id) && isSame(id)).map(({ id }) => id);
}

/** Top-level nodes that took no part in a run which went only as far as one node. */
export const leftOut = async (execution_id: string): Promise<string[]> =>
  (await topLevelEnds(execution_id)).flatMap(({ node_id, status, reused }) => (status === "skipped" && reused ? [node_id] : []));

/** Top-level nodes of the original with a result that may be taken over. */
async function endedNodes(execution_id: string, graph: Graph): Promise<Ended> {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const counts = (await topLevelEnds(execution_id)).filter(
    ({ node_id, status }) => status === "complete" || (status === "failed" && goesOnAfterFailure(nodes.get(node_id))),
  );
  return new Map(counts.map((row) => [row.node_id, { ...progressOf(row, true), type: nodes.get(row.node_id)?.type ?? "" }]));
}

/**
 * Starts a new run of an execution that has ended: of the same graph and input, or of the workflow as it is now; from its
 * beginning, or from one node on with the finished results of everything that does not depend on it (contract, section 5). With other
 * values and no node named, it begins at what reads them.
 * @throws AppError NOT_FOUND; CONFLICT when the original has not ended; VALIDATION_ERROR for an unknown node, one inside a
 *   loop, a value that the trigger does not take, or a result that read other values; RATE_LIMIT_EXCEEDED
 */
export const rerunExecution = (principal: ProjectPrincipal, input: RerunInput): Promise<RerunResult> =>
  startRerun(principal, input, {
    isCounted: principal.auth.type !== "session",
    async also(client, { execution_id, workflow_name }) {
      const resource = { resource_type: "execution", resource_id: input.execution_id, resource_name: workflow_name } as const;
      const detail = { execution_id, ...(input.from_node_id !== undefined && { from_node_id: input.from_node_id }) };
      await recordAudit(client, principal, { action: "execution.rerun", ...resource, detail });
    },
  });

interface Rerun {
  /** Whether it spends the project's hour. */
  isCounted: boolean;
  /** Written with the new run or not at all. */
  also(client: pg.PoolClient, started: { execution_id: string; workflow_name: string }): Promise<void>;
}

/** Like `rerunExecution`, without its record in the audit. */
export async function startRerun(principal: ProjectPrincipal, input: RerunInput, { isCounted, also }: Rerun): Promise<RerunResult> {
  const project_id = principal.project.id;
  const original = await findOriginal(runScopeOf(principal), input.execution_id);
  const before = await snapshotGraph(original.snapshot_id);
  const { workflow_id, workflow_version, snapshot_id } = original;
  const target = input.use_current
    ? await graphToRun(project_id, workflow_id)
    : { graph: before, agents: null, version: workflow_version, snapshot_id };
  const { graph } = target;
  const isTest = target.version === null;
  const left_out = isTest && input.from_node_id === undefined ? await leftOut(input.execution_id) : [];
  const played = isTest ? withPins(graph) : graph;
  await assertRunnable(project_id, cutGraph(played, left_out), target.agents);
  const { input: text, params, isNew } = repeatedValues(graph, original, input);
  const given = givenResults(played, givenWithout(played, left_out), left_out);
  let taken: string[] = [];
  if (input.from_node_id !== undefined) {
    const from = graph.nodes.find((node) => node.id === input.from_node_id);
    if (!from || definitionOf(from.type)?.isInert)
      throw invalidField("from_node_id", `The graph has no node "${input.from_node_id}" that runs.`);
    taken = reusedNodes(played, from.id, await endedNodes(input.execution_id, before));
    if (isNew) taken = resultsBeside(before, original, taken, input.reuse_stale);
  } else if (isNew) {
    const others = new Set(given.map(({ node_id }) => node_id));
    const ids = await resultsThatHold(input.execution_id, before, played, null, workflow_version === null);
    taken = resultsWithoutTrigger(before, original, ids).fresh.filter((id) => !others.has(id));
  }
  const ends = graph.nodes.filter((node) => node.type === "terminateNode").map((node) => node.id);
  const result = await startExecution(
    {
      project_id,
      workflow_id,
      workflow_version: target.version,
      snapshot_id: target.snapshot_id,
      trigger: "rerun",
      ...starterOf(principal),
      input: text,
      params,
      rerun_of_id: input.execution_id,
      isCounted,
    },
    {
      taken: { execution_id: input.execution_id, node_ids: taken, terminate_ids: ends },
      given,
      also: (client, execution_id) => also(client, { execution_id, workflow_name: original.workflow.name }),
    },
  );
  return { ...result, rerun_of: input.execution_id };
}
