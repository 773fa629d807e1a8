import type { z } from "zod";
import { leftOut } from "#server/features/executions/rerun-execution.ts";
import type { ForkInput, ForkResult } from "#server/features/executions/schema.ts";
import { checkedGraph } from "#server/features/workflows/checks.ts";
import { assertRunnable, graphToRun } from "#server/features/workflows/execute.ts";
import { hasOtherTrigger, repeatedValues, resultsBeside, resultsWithoutTrigger } from "#server/features/workflows/repeated-values.ts";
import { resultsThatHold } from "#server/features/workflows/results-that-hold.ts";
import { graphHash } from "#server/features/workflows/snapshots.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { assertKeyMay } from "#server/platform/auth/rights.ts";
import { invalidField } from "#server/platform/errors.ts";
import { findOriginal } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { cutGraph, givenResults } from "#server/runs/use-cases/cut-graph.ts";
import { runScopeOf, starterOf } from "#server/runs/use-cases/run-scope.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { withPins } from "#server/workflow/pins.ts";
import { givenWithout } from "#server/workflow/run-until.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** A graph without its pins: a run of a saved version has passed them over, and so does its fork. */
const unpinned = ({ nodes, edges }: Graph): Graph => ({
  nodes: nodes.map(({ data: { pinned: _, ...data }, ...node }) => ({ ...node, data })),
  edges,
});

/** The graph that the fork runs: checked like a save where it is another than the original ran. */
async function forkedGraph(before: Graph, { nodes = before.nodes, edges = before.edges }: ForkInput, isTest: boolean) {
  const plain = ({ nodes, edges }: Graph) => graphHash(isTest ? { nodes, edges } : unpinned({ nodes, edges }));
  if ((await plain({ nodes, edges })) === (await plain(before))) return { graph: before, isChanged: false };
  const graph = await checkedGraph({ nodes, edges }, { stored: before });
  const { agent_names } = before;
  return { graph: { ...(isTest ? graph : unpinned(graph)), ...(agent_names && { agent_names }) }, isChanged: true };
}

/**
 * Starts a run from an execution that has ended, with its graph, input or values changed, and with the results of everything that
 * comes before the first change (contract, section 9). The workflow itself stays as it is.
 * @throws AppError NOT_FOUND; CONFLICT when the original has not ended; VALIDATION_ERROR for a graph that a save would refuse or that
 *   cannot run, a node that it does not have, a value that the trigger does not take, or a result that read other values; PERMISSION_DENIED for a key that may not write and brings a graph; RATE_LIMIT_EXCEEDED
 */
export async function forkExecution(principal: ProjectPrincipal, input: ForkInput): Promise<z.infer<typeof ForkResult>> {
  // What a graph of its own runs, a key that only runs what there is must not choose: it could send secrets anywhere.
  if (input.nodes || input.edges) assertKeyMay(principal, { scope: "write" });
  const project_id = principal.project.id;
  const original = await findOriginal(runScopeOf(principal), input.execution_id);
  const before = await snapshotGraph(original.snapshot_id);
  const wasTest = original.workflow_version === null;
  const { graph, isChanged } = await forkedGraph(before, input, wasTest);
  const from = input.from_node_id === undefined ? null : graph.nodes.find(({ id }) => id === input.from_node_id);
  if (from === undefined || (from && definitionOf(from.type)?.isInert))
    throw invalidField("from_node_id", `The graph has no node "${input.from_node_id}" that runs.`);
  const { workflow_id } = original;
  const kept = { graph, agents: null, version: original.workflow_version, snapshot_id: original.snapshot_id };
  const played = wasTest ? withPins(graph) : graph;
  const left_out = wasTest && from === null ? await leftOut(input.execution_id) : [];
  await assertRunnable(project_id, cutGraph(played, left_out));
  const target = isChanged ? await graphToRun(project_id, workflow_id, graph) : kept;

  const { input: text, params, isNew } = repeatedValues(graph, original, input, hasOtherTrigger(before, graph));
  const given = givenResults(played, givenWithout(played, left_out), left_out);
  const held = async () => {
    if (from === null && !isNew && !isChanged) return [];
    const ids = await resultsThatHold(input.execution_id, before, played, from?.id ?? null, wasTest);
    const others = new Set(given.map(({ node_id }) => node_id));
    const own = ids.filter((id) => !others.has(id));
    if (!isNew) return own;
    return from ? resultsBeside(before, original, own, input.reuse_stale) : resultsWithoutTrigger(before, original, own).fresh;
  };
  const terminate_ids = graph.nodes.filter((node) => node.type === "terminateNode").map((node) => node.id);
  const { execution_id, status } = await startExecution(
    {
      ...{ project_id, workflow_id, workflow_version: target.version, snapshot_id: target.snapshot_id },
      ...{ trigger: "fork", ...starterOf(principal), input: text, params, rerun_of_id: input.execution_id },
      isCounted: principal.auth.type !== "session",
    },
    {
      taken: { execution_id: input.execution_id, node_ids: await held(), terminate_ids },
      given,
      async also(client, execution_id) {
        const resource = { resource_type: "execution", resource_id: input.execution_id, resource_name: original.workflow.name } as const;
        const detail = { execution_id, graph_changed: isChanged, ...(from && { from_node_id: from.id }) };
        await recordAudit(client, principal, { action: "execution.fork", ...resource, detail });
      },
    },
  );
  return { execution_id, status, forked_from: input.execution_id };
}
