import type { z } from "zod";
import { leftOut } from "#server/features/executions/rerun-execution.ts";
import type { ForkInput, ForkResult } from "#server/features/executions/schema.ts";
import { checkedGraph } from "#server/features/workflows/checks.ts";
import { assertRunnable, graphToRun, triggerValues } from "#server/features/workflows/execute.ts";
import { resultsThatHold } from "#server/features/workflows/results-that-hold.ts";
import { graphHash } from "#server/features/workflows/snapshots.ts";
import { recordAuditOn } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { assertKeyMay } from "#server/platform/auth/rights.ts";
import { invalidField } from "#server/platform/errors.ts";
import { findOriginal } from "#server/runs/store/executions.ts";
import { cutGraph, givenResults } from "#server/runs/use-cases/cut-graph.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { withPins } from "#server/workflow/pins.ts";
import { givenWithout } from "#server/workflow/run-until.ts";
import { Graph } from "#server/workflow/schema.ts";

/** A graph without its pins: a run of a saved version has passed them over, and so does its fork. */
const unpinned = ({ nodes, edges }: Graph): Graph => ({
  nodes: nodes.map(({ data: { pinned: _, ...data }, ...node }) => ({ ...node, data })),
  edges,
});

const isTrigger = (graph: Graph, id: string) => definitionOf(graph.nodes.find((node) => node.id === id)?.type ?? "")?.group === "trigger";
const triggerKind = (graph: Graph) => graph.nodes.find(({ id }) => isTrigger(graph, id))?.data.kind;

/** The graph that the fork runs: checked like a save where it is another than the original ran. */
function forkedGraph(before: Graph, { nodes = before.nodes, edges = before.edges }: ForkInput, isTest: boolean) {
  const plain = ({ nodes, edges }: Graph) => graphHash(isTest ? { nodes, edges } : unpinned({ nodes, edges }));
  if (plain({ nodes, edges }) === plain(before)) return { graph: before, isChanged: false };
  const graph = checkedGraph({ nodes, edges });
  return { graph: isTest ? graph : unpinned(graph), isChanged: true };
}

/**
 * Starts a run from an execution that has ended, with its graph, input or values changed, and with the results of everything that
 * comes before the first change (contract, section 9). The workflow itself stays as it is.
 * @throws AppError NOT_FOUND; CONFLICT when the original has not ended; VALIDATION_ERROR for a graph that a save would refuse or that
 *   cannot run, a node that it does not have, or a value that the trigger does not take; PERMISSION_DENIED for a key that may not write and brings a graph; RATE_LIMIT_EXCEEDED
 */
export async function forkExecution(principal: ProjectPrincipal, input: ForkInput): Promise<z.infer<typeof ForkResult>> {
  // What a graph of its own runs, a key that only runs what there is must not choose: it could send secrets anywhere.
  if (input.nodes || input.edges) assertKeyMay(principal, { scope: "write" });
  const project_id = principal.project.id;
  const original = await findOriginal(project_id, input.execution_id);
  const before = Graph.parse(original.snapshot.graph);
  const wasTest = original.workflow_version === null;
  const { graph, isChanged } = forkedGraph(before, input, wasTest);
  const from = input.from_node_id === undefined ? null : graph.nodes.find(({ id }) => id === input.from_node_id);
  if (from === undefined || (from && definitionOf(from.type)?.isInert))
    throw invalidField("from_node_id", `The graph has no node "${input.from_node_id}" that runs.`);
  const { workflow_id } = original;
  const kept = { graph, agents: null, version: original.workflow_version, snapshot_id: original.snapshot_id };
  const played = wasTest ? withPins(graph) : graph;
  const left_out = wasTest && from === null ? await leftOut(input.execution_id) : [];
  await assertRunnable(project_id, cutGraph(played, left_out));
  const target = isChanged ? await graphToRun(project_id, workflow_id, graph) : kept;

  const isNewInput = input.input !== undefined || input.params !== undefined || triggerKind(graph) !== triggerKind(before);
  const known = { input: original.values?.input ?? "", params: (original.values?.params as Record<string, unknown> | null) ?? null };
  const { input: text, params } = isNewInput ? triggerValues(graph, input) : known;
  const held = async () => {
    // A new input changes everything, unless one says from where on.
    if (from === null && (isNewInput || !isChanged)) return [];
    const ids = await resultsThatHold(input.execution_id, before, played, from?.id ?? null, wasTest);
    const given = new Set(left_out);
    return ids.filter((id) => !given.has(id) && !(isNewInput && isTrigger(graph, id)));
  };
  const terminate_ids = graph.nodes.filter((node) => node.type === "terminateNode").map((node) => node.id);
  const { execution_id, status } = await startExecution(
    {
      ...{ project_id, workflow_id, workflow_version: target.version, snapshot_id: target.snapshot_id },
      ...{ trigger: "fork", started_by_id: principal.user.id, input: text, params, rerun_of_id: input.execution_id },
      isCounted: principal.auth.type !== "session",
    },
    {
      taken: { execution_id: input.execution_id, node_ids: await held(), terminate_ids },
      given: givenResults(played, givenWithout(played, left_out), left_out),
      async also(client, execution_id) {
        const resource = { resource_type: "execution", resource_id: input.execution_id, resource_name: original.workflow.name };
        const detail = { execution_id, graph_changed: isChanged, ...(from && { from_node_id: from.id }) };
        await recordAuditOn(client, principal, { action: "execution.fork", ...resource, detail });
      },
    },
  );
  return { execution_id, status, forked_from: input.execution_id };
}
