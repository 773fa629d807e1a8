import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError } from "#server/errors.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { SetScheduleInput, Workflow } from "#server/schemas/workflow.ts";
import { triggerKind } from "#server/services/workflows/checked-graph.ts";
import { updateWorkflow } from "#server/services/workflows/update-workflow.ts";

/** The graph with other values in its schedule trigger, or as it is when that is of another kind. */
function withSchedule(graph: Graph, { enabled, cron_expression, timezone, default_input }: SetScheduleInput): Graph {
  if (triggerKind(graph) !== "schedule") return graph;
  const values = {
    active: enabled,
    ...(cron_expression !== undefined && { cron_expression }),
    ...(timezone !== undefined && { timezone }),
    ...(default_input !== undefined && { default_input }),
  };
  const nodes = graph.nodes.map((node) => (node.type === "triggerNode" ? { ...node, data: { ...node.data, ...values } } : node));
  return { ...graph, nodes };
}

/**
 * Switches a workflow's schedule on or off and may change its times: writes into the trigger node and saves, so the
 * version counts up. A draft keeps everything else that it holds.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when the trigger is of another kind, or for times that cannot be kept
 */
export function setSchedule(principal: ProjectPrincipal, input: SetScheduleInput): Promise<Workflow> {
  return updateWorkflow(principal, { workflow_id: input.workflow_id }, (graph, which) => {
    if (which === "saved" && triggerKind(graph) !== "schedule")
      throw new AppError(
        "VALIDATION_ERROR",
        "This workflow's trigger is no schedule. Choose Schedule in its trigger node and save first.",
        {
          errors: [{ path: "workflow_id", message: "has a trigger of another kind" }],
        },
      );
    return withSchedule(graph, input);
  });
}
