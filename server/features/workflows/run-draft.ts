import { assertRunnable, byAssistant, calledValues, graphToRun } from "#server/features/workflows/execute.ts";
import { hasOtherTrigger, repeatedValues, resultsWithoutTrigger } from "#server/features/workflows/repeated-values.ts";
import { resultsThatHold } from "#server/features/workflows/results-that-hold.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { invalidField } from "#server/platform/errors.ts";
import type { ExecuteResult, RunDraftInput } from "#server/runs/schema.ts";
import type { EarlierResults } from "#server/runs/store/earlier-results.ts";
import { findOriginal } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { cutGraph, givenResults } from "#server/runs/use-cases/cut-graph.ts";
import { runScopeOf, starterOf } from "#server/runs/use-cases/run-scope.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { findPinFault, withPins } from "#server/workflow/pins.ts";
import { nodesUntil } from "#server/workflow/run-until.ts";
import type { Graph } from "#server/workflow/schema.ts";

function assertNode(graph: Graph, path: string, id: string): void {
  const node = graph.nodes.find((candidate) => candidate.id === id);
  if (!node || definitionOf(node.type)?.isInert) throw invalidField(path, `The draft has no node "${id}" that runs.`);
}

/**
 * Starts a test run of the editor's draft, in which pinned outputs stand in for their nodes: the whole of it, only what one
 * node needs, or from one node on with what still holds of an earlier run's results.
 * @param instead a graph that is run in the draft's place, such as that of a proposal; the caller has seen to it that it may be
 * @throws AppError NOT_FOUND; CONFLICT when the earlier run has not ended; VALIDATION_ERROR when something in the part that
 *   runs would stop it, a pin cannot be its node's output, or a value does not fit; RATE_LIMIT_EXCEEDED
 */
export async function runDraft(principal: ProjectPrincipal, input: RunDraftInput, instead?: Graph): Promise<ExecuteResult> {
  const project_id = principal.project.id;
  const { workflow_id, until_node_id: until, from } = input;
  const { graph: draft, agents, snapshot_id } = await graphToRun(project_id, workflow_id, instead ?? "draft");
  const fault = findPinFault(draft);
  if (fault) throw invalidField(`${fault.node_id}.pinned`, fault.message);
  const graph = withPins(draft);
  const results: EarlierResults = {};
  let left_out: readonly string[] = [];
  if (until !== undefined) {
    assertNode(graph, "until_node_id", until);
    const { given, left_out: others } = nodesUntil(graph, until);
    left_out = others;
    results.given = givenResults(graph, given, others);
  }
  await assertRunnable(project_id, cutGraph(graph, left_out), agents);
  const isCounted = principal.auth.type !== "session";
  const common = { isCounted, project_id, workflow_id, workflow_version: null, snapshot_id, ...starterOf(principal) };
  if (!from) return startExecution({ ...common, ...calledValues(graph, input), ...byAssistant(principal) }, results);

  assertNode(graph, "from.node_id", from.node_id);
  const original = await findOriginal(runScopeOf(principal), from.execution_id);
  if (original.workflow_id !== workflow_id) throw invalidField("from.execution_id", "That execution is of another workflow.");
  const before = await snapshotGraph(original.snapshot_id);
  const isTest = original.workflow_version === null;
  const values = repeatedValues(graph, original, input, hasOtherTrigger(before, graph));
  const held = await resultsThatHold(from.execution_id, before, graph, from.node_id, isTest);
  const ids = values.isNew ? resultsWithoutTrigger(before, original, held).fresh : held;
  const others = new Set(results.given?.map(({ node_id }) => node_id));
  const terminate_ids = graph.nodes.filter((node) => node.type === "terminateNode").map((node) => node.id);
  results.taken = { execution_id: from.execution_id, node_ids: ids.filter((id) => !others.has(id)), terminate_ids };
  return startExecution(
    { ...common, trigger: "rerun", input: values.input, params: values.params, rerun_of_id: from.execution_id },
    results,
  );
}
