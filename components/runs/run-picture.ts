import { type Execution, type ExecutionStatus, isFinal, type NodeStatus } from "#server/schemas/execution.ts";
import type { ExecutionEvent } from "#server/schemas/execution-event.ts";

/** How one node stands in a run. */
export interface NodePicture {
  status: NodeStatus;
  attempt: number;
  output: string | null;
  error: string | null;
  /** What has arrived of a running agent's answer. */
  arriving: string;
  started_at: string | null;
  duration_ms: number | null;
  input_tokens: number;
  output_tokens: number;
  iterations?: { total: number; complete: number; failed: number };
}

/** What the screen shows of a run, however it was put together: from the API's answer, from events, or both. */
export interface RunPicture {
  status: ExecutionStatus;
  nodes: Record<string, NodePicture>;
  /** Ids of nodes in the order in which they started. */
  order: string[];
  output: string | null;
  error: string | null;
  created_at: string;
  duration_ms: number | null;
  /** Number of the last event taken in. */
  last_event_id: number;
}

const untouched: NodePicture = {
  status: "idle",
  attempt: 0,
  output: null,
  error: null,
  arriving: "",
  started_at: null,
  duration_ms: null,
  input_tokens: 0,
  output_tokens: 0,
};

/** The picture of an execution as the API tells it. */
export function pictureOf(execution: Execution, last_event_id: number): RunPicture {
  const nodes = Object.fromEntries(
    Object.entries(execution.node_results).map(([id, { completed_at: _, iterations, ...result }]) => [
      id,
      { ...untouched, ...result, ...(iterations && { iterations }) },
    ]),
  );
  const started = Object.entries(nodes).filter(([, node]) => node.started_at !== null);
  const order = started.sort(([, a], [, b]) => ((a.started_at ?? "") < (b.started_at ?? "") ? -1 : 1)).map(([id]) => id);
  const { status, output, error, created_at, duration_ms } = execution;
  return { status, nodes, order, output, error, created_at, duration_ms, last_event_id };
}

const isOver = (status: NodeStatus): boolean => status === "complete" || status === "failed" || status === "skipped";

/**
 * The picture after one more event. An event that was taken in before changes nothing, and one that tells what the picture
 * knows already (the API's answer may be newer than the events that follow it) never turns a finished node back.
 */
export function applyEvent(picture: RunPicture, id: number, event: ExecutionEvent): RunPicture {
  if (id <= picture.last_event_id) return picture;
  const next = { ...picture, last_event_id: id };
  // What happens inside a loop's body is counted by the loop; the node's own card shows its latest turn.
  const change = (nodeId: string, patch: (node: NodePicture) => Partial<NodePicture> | null): RunPicture => {
    const node = picture.nodes[nodeId] ?? untouched;
    const changed = patch(node);
    if (!changed) return next;
    const merged = { ...node, ...changed };
    const order = merged.started_at !== null && !picture.order.includes(nodeId) ? [...picture.order, nodeId] : picture.order;
    return { ...next, order, nodes: { ...picture.nodes, [nodeId]: merged } };
  };
  const isInLoop = "iteration" in event && event.iteration !== undefined && event.iteration !== "";

  switch (event.type) {
    case "node_start": {
      const changed = change(event.node_id, (node) => {
        const isKnown =
          event.attempt < node.attempt || (event.attempt === node.attempt && (node.status === "running" || isOver(node.status)));
        if (isKnown && !isInLoop) return null;
        return { ...untouched, status: "running", attempt: event.attempt, started_at: event.timestamp };
      });
      return changed.status === "pending" || changed.status === "queued" ? { ...changed, status: "running" } : changed;
    }
    case "node_delta":
      return change(event.node_id, (node) => (node.status === "running" ? { arriving: node.arriving + event.content } : null));
    case "node_complete":
      return change(event.node_id, (node) => ({
        status: "complete",
        output: event.output,
        error: null,
        arriving: "",
        started_at: node.started_at ?? event.timestamp,
        duration_ms: event.duration_ms,
        input_tokens: event.input_tokens,
        output_tokens: event.output_tokens,
      }));
    case "node_failed":
      return change(event.node_id, (node) => ({
        status: "failed",
        error: event.error,
        started_at: node.started_at ?? event.timestamp,
        duration_ms: event.duration_ms,
      }));
    case "node_skipped":
      return change(event.node_id, () => ({ status: "skipped" }));
    case "loop_progress":
      return change(event.node_id, () => ({ iterations: { total: event.total, complete: event.complete, failed: event.failed } }));
    case "execution_paused":
      return { ...change(event.node_id, (node) => (isOver(node.status) ? null : { status: "waiting" })), status: "paused" };
    case "execution_resumed":
      return { ...next, status: "running" };
    case "execution_complete":
    case "execution_failed":
      return {
        ...settled(next),
        status: event.status,
        duration_ms: event.duration_ms,
        output: event.type === "execution_complete" ? event.output : picture.output,
        error: event.type === "execution_failed" ? event.error : null,
      };
  }
}

/** At the end nothing runs any more: what was under way or never reached has been skipped. */
function settled(picture: RunPicture): RunPicture {
  const nodes = Object.fromEntries(
    Object.entries(picture.nodes).map(([id, node]) => [id, isOver(node.status) ? node : { ...node, status: "skipped" as const }]),
  );
  return { ...picture, nodes };
}

/** What a card shows: a node not yet reached in a run that goes on is queued. */
export type CardStatus = NodeStatus | "queued";

export function cardStatus(picture: RunPicture, nodeId: string): CardStatus {
  const status = picture.nodes[nodeId]?.status ?? "idle";
  return status === "idle" && !isFinal(picture.status) ? "queued" : status;
}

/** Tokens of all nodes together. */
export function totalTokens(picture: RunPicture): { input: number; output: number } {
  const nodes = Object.values(picture.nodes);
  return {
    input: nodes.reduce((sum, node) => sum + node.input_tokens, 0),
    output: nodes.reduce((sum, node) => sum + node.output_tokens, 0),
  };
}
