import type { GraphFault } from "#server/engine/graph.ts";
import { labelOf } from "#server/engine/graph.ts";
import { triggerNode } from "#server/engine/nodes/trigger-node.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { CronError, checkCron } from "#server/services/schedules/cron.ts";
import { pathFault } from "#server/services/webhooks/payload-path.ts";

/** What is wrong with the values of a trigger that only a parser can tell, by field. An empty one is merely not filled in yet. */
function faultOf({ kind, ...config }: ReturnType<typeof triggerNode.config.parse>): { field: string; message: string } | undefined {
  if (kind === "webhook") {
    const message = pathFault(config.payload_path);
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
