import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db, inTransaction } from "#server/db/client.ts";
import { runPlan } from "#server/engine/disabled.ts";
import { definitionOf, goesOnAfterFailure } from "#server/engine/graph.ts";
import { dependentsOf } from "#server/engine/plan.ts";
import { AppError, notFound } from "#server/errors.ts";
import { isFinal, type RerunInput, type RerunResult } from "#server/schemas/execution.ts";
import { Graph } from "#server/schemas/graph.ts";
import { recordAuditOn } from "#server/services/audit/record-audit.ts";
import { assertRunnable } from "#server/services/executions/assert-runnable.ts";
import { graphToRun, triggerValues } from "#server/services/executions/execute-workflow.ts";
import { requestRun } from "#server/services/executions/request-run.ts";
import { hourUsedUp, insertExecution, type Started, startOnce } from "#server/services/executions/start-execution.ts";
import { runIdOfRequest } from "#server/services/idempotency/run-id.ts";
import { isUuid } from "#server/services/ids.ts";

// Of a loop that is taken over, its body too: the Output nodes in there are results of the run. A Terminate ($4) ended
// the run that it was reached in; taken over it is only done, and its handle, which says how it ended that one, is left out.
const TAKE_OVER = `
  WITH source AS MATERIALIZED (
    SELECT DISTINCT ON (node_id, iteration) *, gen_random_uuid() AS copy_id FROM node_runs
    WHERE execution_id = $1 AND node_id = ANY($3) AND status IN ('complete', 'failed', 'skipped')
    ORDER BY node_id, iteration, attempt DESC
  ), copied AS (
    INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens, cost, items, reused)
    SELECT copy_id, $2, node_id, iteration, 1, status, CASE WHEN node_id <> ALL($4) THEN handle END, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens, cost, items, true FROM source
    RETURNING id
  )
  INSERT INTO node_run_values (node_run_id, input, output, tool_calls)
  SELECT source.copy_id, v.input, v.output, v.tool_calls
  FROM source JOIN copied ON copied.id = source.copy_id JOIN node_run_values v ON v.node_run_id = source.id`;

const invalid = (path: string, message: string) => new AppError("VALIDATION_ERROR", message, { errors: [{ path, message }] });

/**
 * Ids of the nodes whose results the new run takes over: everything that has finished and does not depend on `from`.
 * @param ended nodes of the original that left a result, by id with their type
 */
function reusedNodes(graph: Graph, from: string, ended: ReadonlyMap<string, string>): string[] {
  const plan = runPlan(graph);
  const [loop] = plan.loopsAround(from);
  if (loop !== undefined) throw invalid("from_node_id", `"${from}" runs inside a loop. Run the loop again: from_node_id "${loop}".`);
  const top = plan.scopes.get(null);
  const again = top ? dependentsOf(top, from) : new Set([from]);
  const isReused = (id: string): boolean => {
    const outermost = plan.loopsAround(id)[0] ?? id;
    return !again.has(outermost) && ended.has(outermost);
  };
  return graph.nodes.filter(({ id, type }) => isReused(id) && (ended.get(id) ?? type) === type).map(({ id }) => id);
}

async function findOriginal(project_id: string, execution_id: string) {
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await db().execution.findFirst({
    where: { id: execution_id, project_id },
    select: {
      status: true,
      workflow_id: true,
      workflow_version: true,
      snapshot_id: true,
      snapshot: { select: { graph: true } },
      values: { select: { input: true, params: true } },
      workflow: { select: { deleted_at: true, name: true } },
    },
  });
  if (!row) throw notFound("execution");
  if (!isFinal(row.status))
    throw new AppError("CONFLICT", `This execution has not ended: it is ${row.status}. Wait for it, or cancel it first.`);
  if (row.workflow.deleted_at) throw new AppError("CONFLICT", "The workflow of this execution has been deleted, so it cannot run again.");
  return row;
}

/** Top-level nodes of the original with a result that may be taken over, by id with their type in its graph. */
async function endedNodes(execution_id: string, graph: Graph): Promise<Map<string, string>> {
  const rows = await db().nodeRun.findMany({
    where: { execution_id, iteration: "", status: { in: ["complete", "failed"] } },
    orderBy: { attempt: "asc" },
    select: { node_id: true, status: true },
  });
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const status = new Map(rows.map((row) => [row.node_id, row.status]));
  const counts = [...status].filter(([id, how]) => how === "complete" || goesOnAfterFailure(nodes.get(id)));
  return new Map(counts.map(([id]) => [id, nodes.get(id)?.type ?? ""]));
}

/**
 * Starts a new run of an execution that has ended: of the same graph and input, or of the workflow as it is now; from its
 * beginning, or from one node on with the finished results of everything that does not depend on it (contract, section 5).
 * @throws AppError NOT_FOUND; CONFLICT when the original has not ended; VALIDATION_ERROR for an unknown node, one inside a
 *   loop, or a value that the trigger does not take; RATE_LIMIT_EXCEEDED
 */
export async function rerunExecution(principal: ProjectPrincipal, input: RerunInput): Promise<RerunResult> {
  const project_id = principal.project.id;
  const original = await findOriginal(project_id, input.execution_id);
  const before = Graph.parse(original.snapshot.graph);
  const { workflow_id, workflow_version, snapshot_id } = original;
  const target = input.use_current ? await graphToRun(project_id, workflow_id) : { graph: before, version: workflow_version, snapshot_id };
  const { graph } = target;
  await assertRunnable(project_id, graph);
  const isNewInput = input.input !== undefined || input.params !== undefined;
  const known = { input: original.values?.input ?? "", params: (original.values?.params as Record<string, unknown> | null) ?? null };
  const { input: text, params } = isNewInput ? triggerValues(graph, input) : known;
  let taken: string[] = [];
  if (input.from_node_id !== undefined) {
    const from = graph.nodes.find((node) => node.id === input.from_node_id);
    if (!from || definitionOf(from.type)?.isInert)
      throw invalid("from_node_id", `The graph has no node "${input.from_node_id}" that runs.`);
    taken = reusedNodes(graph, from.id, await endedNodes(input.execution_id, before));
    // A trigger with a new input is not what it was.
    if (isNewInput) taken = taken.filter((id) => definitionOf(graph.nodes.find((node) => node.id === id)?.type ?? "")?.group !== "trigger");
  }
  const ends = graph.nodes.filter((node) => node.type === "terminateNode").map((node) => node.id);
  const id = runIdOfRequest();
  const write = (): Promise<Started> =>
    inTransaction(async (client) => {
      const common = { project_id, workflow_id, workflow_version: target.version, snapshot_id: target.snapshot_id };
      const execution = {
        ...(id !== undefined && { id }),
        ...common,
        trigger: "rerun" as const,
        started_by_id: principal.user.id,
        input: text,
        params,
      };
      const started = await insertExecution(execution, { on: client });
      if (started.kind !== "started") return started;
      await client.query("UPDATE executions SET rerun_of_id = $2 WHERE id = $1", [started.execution_id, input.execution_id]);
      if (taken.length) await client.query(TAKE_OVER, [input.execution_id, started.execution_id, taken, ends]);
      const resource = { resource_type: "execution", resource_id: input.execution_id, resource_name: original.workflow.name };
      const detail = { execution_id: started.execution_id, ...(input.from_node_id !== undefined && { from_node_id: input.from_node_id }) };
      await recordAuditOn(client, principal, { action: "execution.rerun", ...resource, detail });
      return started;
    });
  const started = await startOnce(id, write);
  if (started.kind === "limited") throw hourUsedUp(started.retryAfter);
  if (started.kind === "repeated") throw new AppError("CONFLICT", "This run has been started before. Look for it among the executions.");
  const { execution_id } = started;
  await requestRun({ execution_id, project_id, dispatch: 0 });
  return { execution_id, status: "pending", rerun_of: input.execution_id };
}
