import type { NodeStatus } from "#server/runs/status-schema.ts";
import type { PlanEdge } from "#server/workflow/compile.ts";

/** Progress of one node. A failed node with `continues` counts as finished for the nodes after it. */
export interface NodeProgress {
  status: NodeStatus;
  /** The handle that is live, of a node with several. */
  handle?: string | null | undefined;
  continues?: boolean | undefined;
}

/** Returns true for a node that has completed, failed or been skipped. */
export const hasEnded = ({ status }: Pick<NodeProgress, "status">): boolean =>
  status === "complete" || status === "failed" || status === "skipped";

/** Returns a result as the scheduler sees it. @param continues true where a failure is passed on */
export const progressOf = (result: { status: NodeStatus; handle: string | null }, continues: boolean): NodeProgress => ({
  status: result.status,
  handle: result.handle,
  continues: result.status === "failed" && continues,
});

/** Returns true for an edge that carries a result of a source that has ended. */
export function isLive(edge: PlanEdge, source: NodeProgress): boolean {
  if (source.status === "failed" ? source.continues !== true : source.status !== "complete") return false;
  return source.handle === undefined || source.handle === null || edge.handle === "" || source.handle === edge.handle;
}
