import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import type { Execution, ExecutionView, ItemSums } from "#server/runs/schema.ts";
import type { ExecutionStatus, NodeStatus } from "#server/runs/status-schema.ts";
import { isFinal, isStopped } from "#server/shared/execution-status.ts";
import { dictionary, own } from "#server/shared/json-text.ts";
import type { Plan } from "#server/workflow/compile.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How one node stands in a run; of a node inside a loop, the latest iteration that came to it. */
export interface NodeSnapshot {
  status: NodeStatus;
  attempt: number;
  /** Place in the loops around the node that this is about, such as "3" or "3.0"; empty outside loops. */
  iteration: string;
  output: string | null;
  error: string | null;
  /** What has arrived of a running agent's answer. */
  arriving: string;
  started_at: string | null;
  duration_ms: number | null;
  input_tokens: number;
  output_tokens: number;
  /** US dollars; 0 where no model was called, null when the price is not known. */
  cost: number | null;
  /** Of a node that waits: when that is over at the latest, and where a call would end it. */
  waits_until?: string | undefined;
  resume_url?: string | undefined;
  /** True when the result was taken over from the run that this one reruns. */
  reused: boolean;
  /** True when a pinned output was taken instead of running the node. */
  pinned?: true;
  /** True when an agent's answer ended at the limit of its length and may be cut. */
  answer_truncated?: true | undefined;
  /** True when it had begun and was ended before it was done; `output` is what had come of its answer. */
  stopped?: true | undefined;
  /** Characters of the whole output when `output` is only its beginning. */
  whole_length: number | null;
  iterations?: { total: number; complete: number; failed: number };
  /** The run that it has started, of a node that runs another workflow. */
  child_execution_id?: string | undefined;
  /** True of a node inside loops whose latest items went another way: it is shown at the last that came to it, whose output is asked for. */
  isPast?: true;
  /** Of a node inside loops: what its items took together. */
  items?: ItemSums;
}

/** Tokens, and US dollars as far as prices are known. */
export interface UsageSum {
  input: number;
  output: number;
  cost: number;
  /** The price of some part is not known. */
  isPartial: boolean;
}

/** What the screen shows of a run, however it was put together: from the API's answer, from events, or both. */
export interface RunSnapshot {
  status: ExecutionStatus;
  nodes: Record<string, NodeSnapshot>;
  /** Ids of nodes in the order in which they started. */
  order: string[];
  /** Where people are asked: node ids with the iterations that wait. */
  waiting: Readonly<Record<string, readonly string[]>>;
  /** Ids of the nodes inside each loop. */
  bodies: Readonly<Record<string, readonly string[]>>;
  /** What iterations and tries used that no node shows any more. */
  past: UsageSum;
  output: string | null;
  error: string | null;
  created_at: string;
  duration_ms: number | null;
  /** Number of the last event taken in. */
  last_event_id: number;
}

/** How a node's state is called and drawn where one reads of it. */
export const shownStatus = <Status extends string>(status: Status, { stopped }: { stopped?: true | undefined } = {}): Status | "stopped" =>
  status === "skipped" && stopped ? "stopped" : status;

const untouched: NodeSnapshot = {
  status: "idle",
  attempt: 0,
  iteration: "",
  output: null,
  error: null,
  arriving: "",
  started_at: null,
  duration_ms: null,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  reused: false,
  whole_length: null,
};

const wholeLength = (told: { truncated?: boolean | undefined; output_length?: number | undefined; output?: string | null }) =>
  told.truncated ? (told.output_length ?? told.output?.length ?? 0) : null;

/** The snapshot of an execution as the API tells it. */
export function snapshotOf(
  execution: Execution,
  last_event_id: number,
  view: Partial<Pick<ExecutionView, "graph" | "item_sums">> = {},
): RunSnapshot {
  const bodies = bodiesOf(view.graph);
  let nodes: RunSnapshot["nodes"] = dictionary<NodeSnapshot>();
  for (const [id, result] of Object.entries(execution.node_results)) {
    const { completed_at: _, output_url: __, output_length: ___, truncated: ____, iterations, iteration = "", pinned, ...rest } = result;
    const items = own(view.item_sums ?? {}, id);
    const more = { ...(iterations && { iterations }), ...(pinned && { pinned }), ...(items && { items }) };
    nodes[id] = { ...untouched, ...rest, iteration, whole_length: wholeLength(result), ...more };
    // The event of a failure has the error alone.
    if (result.status === "failed") nodes[id] = { ...nodes[id], output: null, whole_length: null };
    // One that was stopped half way is skipped, too, but has begun.
    if (result.status === "skipped" && result.started_at === null && items?.last) nodes[id] = { ...nodes[id], ...items.last, isPast: true };
  }
  for (const loopId of Object.keys(bodies)) nodes = withBodySkipped(nodes, bodies, loopId);
  const started = Object.entries(nodes).filter(([, node]) => node.started_at !== null);
  const order = started.sort(([, a], [, b]) => ((a.started_at ?? "") < (b.started_at ?? "") ? -1 : 1)).map(([id]) => id);
  const waiting = dictionary<string[]>();
  if (!isFinal(execution.status))
    for (const { node_id, iteration, status } of execution.reviews)
      if (status === "waiting") waiting[node_id] = [...(waiting[node_id] ?? []), iteration ?? ""];
  const shown = sumOf(nodes);
  const past = {
    input: Math.max(0, execution.input_tokens - shown.input),
    output: Math.max(0, execution.output_tokens - shown.output),
    cost: Math.max(0, (execution.cost ?? 0) - shown.cost),
    isPartial: execution.cost_is_partial && !shown.isPartial,
  };
  const { status, output, error, created_at, duration_ms } = execution;
  return { status, nodes, order, waiting, bodies, past, output, error, created_at, duration_ms, last_event_id };
}

function sumOf(nodes: RunSnapshot["nodes"]): UsageSum {
  const all = Object.values(nodes).filter((node) => !node.reused);
  return {
    input: all.reduce((sum, node) => sum + node.input_tokens, 0),
    output: all.reduce((sum, node) => sum + node.output_tokens, 0),
    cost: all.reduce((sum, node) => sum + (node.cost ?? 0), 0),
    isPartial: all.some((node) => node.cost === null),
  };
}

const isOver = (status: NodeStatus): boolean => status === "complete" || status === "failed" || status === "skipped";

/** Less than 0 when `a` comes before `b` among the iterations: "2" before "10", "3.0" before "3.1". */
export function compareIterations(a: string, b: string): number {
  const [left, right] = [a, b].map((path) => (path === "" ? [] : path.split(".").map(Number)));
  for (let depth = 0; depth < Math.max(left?.length ?? 0, right?.length ?? 0); depth++) {
    const difference = (left?.[depth] ?? -1) - (right?.[depth] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The snapshot after one more event. An event that was taken in before changes nothing, and one that tells what the snapshot
 * knows already (the API's answer may be newer than the events that follow it) never turns a finished node back. Of a node
 * inside a loop the latest iteration is kept: what is told of an earlier one is counted by the loop.
 */
export function applyEvent(snapshot: RunSnapshot, id: number, event: ExecutionEvent): RunSnapshot {
  if (id <= snapshot.last_event_id) return snapshot;
  const next = afterEvent({ ...snapshot, last_event_id: id }, event);
  if (isFinal(next.status)) return next;
  // Each review is told when it is asked, and other branches go on: the run is paused while nothing but people is at work.
  // A loop whose items wait is at work only by name.
  const isBusy = () => Object.values(next.nodes).some((node) => node.status === "running" && node.iterations === undefined);
  const status = Object.keys(next.waiting).length > 0 && !isBusy() ? "paused" : next.order.length > 0 ? "running" : next.status;
  return status === next.status ? next : { ...next, status };
}

type NodeEvent = Extract<ExecutionEvent, { node_id: string }>;

function afterEvent(snapshot: RunSnapshot, event: ExecutionEvent): RunSnapshot {
  switch (event.type) {
    case "execution_resumed":
      return snapshot;
    case "execution_complete":
    case "execution_failed":
      return {
        ...settled(snapshot),
        status: event.status,
        duration_ms: event.duration_ms,
        output: event.type === "execution_complete" ? event.output : snapshot.output,
        error: event.type === "execution_failed" ? event.error : null,
      };
    default:
      return withWaiting(withNode(snapshot, event), event);
  }
}

/** Takes note of who is asked and who is not any more; a node that waits for a time or a call has its state only. */
function withWaiting(snapshot: RunSnapshot, event: NodeEvent): RunSnapshot {
  const { node_id, iteration = "" } = event;
  const before = snapshot.waiting[node_id] ?? [];
  if (event.type === "execution_paused") {
    const node = snapshot.nodes[node_id];
    const isPast = node?.iteration === iteration && isOver(node.status);
    return isPast || before.includes(iteration)
      ? snapshot
      : { ...snapshot, waiting: dictionary(snapshot.waiting, { [node_id]: [...before, iteration] }) };
  }
  const isEnd = event.type === "node_complete" || event.type === "node_failed" || event.type === "node_skipped";
  if (!isEnd || !before.includes(iteration)) return snapshot;
  const { [node_id]: _, ...others } = snapshot.waiting;
  const rest = before.filter((path) => path !== iteration);
  return { ...snapshot, waiting: dictionary(others, rest.length ? { [node_id]: rest } : {}) };
}

function withNode(snapshot: RunSnapshot, event: NodeEvent): RunSnapshot {
  const { node_id, iteration = "" } = event;
  const known = snapshot.nodes[node_id] ?? untouched;
  // An item that goes another way leaves what is shown of those that came here.
  if (event.type === "node_skipped" && known.started_at !== null && known.iteration !== iteration) return snapshot;
  const order = known.status === "idle" && known.iteration === "" ? 0 : compareIterations(iteration, known.iteration);
  const items = addToItemSums(known.items, event);
  if (order < 0) {
    const earlier =
      items === known.items
        ? snapshot
        : { ...snapshot, nodes: dictionary(snapshot.nodes, { [node_id]: { ...known, ...(items && { items }) } }) };
    return event.type === "node_complete" ? withPast(earlier, event) : earlier;
  }
  const isNext = order > 0;
  const node = isNext || known.iteration !== iteration ? { ...untouched, iteration } : known;
  const changed = patchOf(node, event);
  if (!changed) return snapshot;
  const merged: NodeSnapshot = { ...node, ...changed, ...(items && { items }) };
  const isNew = merged.started_at !== null && !snapshot.order.includes(node_id);
  const kept = isNext ? withPast(snapshot, known) : snapshot;
  const nodes = withBodySkipped(dictionary(snapshot.nodes, { [node_id]: merged }), snapshot.bodies, node_id);
  return { ...kept, order: isNew ? [...snapshot.order, node_id] : snapshot.order, nodes };
}

type Counted = { input_tokens: number; output_tokens: number; cost?: number | null | undefined };

function withPast(snapshot: RunSnapshot, { input_tokens, output_tokens, cost = 0 }: Counted): RunSnapshot {
  if (input_tokens + output_tokens === 0 && cost === 0) return snapshot;
  const { input, output, cost: before, isPartial } = snapshot.past;
  const past = {
    input: input + input_tokens,
    output: output + output_tokens,
    cost: before + (cost ?? 0),
    isPartial: isPartial || cost === null,
  };
  return { ...snapshot, past };
}

/** What an event changes about the iteration that it tells of; null for nothing. */
function patchOf(node: NodeSnapshot, event: NodeEvent): Partial<NodeSnapshot> | null {
  switch (event.type) {
    case "node_start": {
      const isKnown =
        event.attempt < node.attempt ||
        (event.attempt === node.attempt && (node.status === "running" || node.status === "waiting" || isOver(node.status)));
      if (isKnown) return null;
      return { ...untouched, iteration: node.iteration, status: "running", attempt: event.attempt, started_at: event.timestamp };
    }
    case "node_delta":
      if (node.status !== "running") return null;
      return { arriving: event.reset ? event.content : node.arriving + event.content };
    case "node_complete":
      return {
        status: "complete",
        output: event.output,
        whole_length: wholeLength(event),
        answer_truncated: event.answer_truncated,
        error: null,
        arriving: "",
        started_at: node.started_at ?? event.timestamp,
        duration_ms: event.duration_ms,
        input_tokens: event.input_tokens,
        output_tokens: event.output_tokens,
        cost: event.cost === undefined ? 0 : event.cost,
      };
    case "node_failed":
      return { status: "failed", error: event.error, started_at: node.started_at ?? event.timestamp, duration_ms: event.duration_ms };
    case "node_skipped":
      return skipped(node);
    case "loop_progress":
      return { iterations: { total: event.total, complete: event.complete, failed: event.failed } };
    case "execution_paused":
    case "node_waiting": {
      if (isOver(node.status)) return null;
      const told = event.type === "node_waiting" && {
        waits_until: event.deadline ?? undefined,
        child_execution_id: event.child_execution_id,
      };
      return { status: "waiting", started_at: node.started_at ?? event.timestamp, ...told };
    }
  }
}

/** How a node ends that is not done: skipped, and stopped when it had begun. */
const skipped = (node: NodeSnapshot): Pick<NodeSnapshot, "status" | "stopped"> => ({
  status: "skipped",
  ...(isStopped({ ...node, status: "skipped" }) && { stopped: true }),
});

/** At the end nothing runs any more: what was under way or never reached has been skipped. */
function settled(snapshot: RunSnapshot): RunSnapshot {
  const nodes = Object.fromEntries(
    Object.entries(snapshot.nodes).map(([id, node]) => [id, isOver(node.status) ? node : { ...node, ...skipped(node) }]),
  );
  return { ...snapshot, nodes: dictionary(nodes), waiting: dictionary() };
}

/** What a card shows: a node not yet reached in a run that goes on is queued, one that was ended half way is stopped. */
export type CardStatus = NodeStatus | "queued" | "stopped";

/** A node at which an iteration waits for somebody shows that, whatever later iterations do. */
export function cardStatus(snapshot: RunSnapshot, nodeId: string): CardStatus {
  if (snapshot.waiting[nodeId]) return "waiting";
  const node = snapshot.nodes[nodeId];
  const status = node?.status ?? "idle";
  return status === "idle" && !isFinal(snapshot.status) ? "queued" : shownStatus(status, node);
}

/** True for a type at which a person is asked; other nodes wait for a time, or for a call. */
export const isReview = (type: string | undefined): boolean => definitionOf(type ?? "")?.rejects !== undefined;

/** True for a type at which a person may be asked: at a review, or where a budget is used up. */
export const mayAsk = (type: string | undefined): boolean => isReview(type) || definitionOf(type ?? "")?.waitsSeldom === true;

/** Whether somebody is asked in the run that is shown. */
export const isReviewPending = ({ snapshot, view }: { snapshot: RunSnapshot | null; view: ExecutionView | null }): boolean =>
  view?.graph.nodes.some(({ id, type }) => snapshot?.waiting[id] !== undefined && mayAsk(type)) ?? false;

/** What the whole run has used so far; its cost is null when nothing of it is known. */
export function totalUsage({ nodes, past }: RunSnapshot): Omit<UsageSum, "cost"> & { cost: number | null } {
  const shown = sumOf(nodes);
  const isPartial = shown.isPartial || past.isPartial;
  // Sums of fractions end in digits that no price has.
  const cost = Number((shown.cost + past.cost).toFixed(12));
  return { input: shown.input + past.input, output: shown.output + past.output, cost: cost === 0 && isPartial ? null : cost, isPartial };
}

// What a run's snapshot (run-snapshot.ts) tells of loops: what lies in them, and what their items took together.

/** Ids of the nodes in each loop, those of the loops within it too. */
export function bodiesOf(graph: Graph | undefined): Record<string, string[]> {
  const bodies = dictionary<string[]>();
  const plan = graph && planOf(graph);
  for (const { id } of graph?.nodes ?? []) for (const loop of plan?.loopsAround(id) ?? []) bodies[loop] = [...(bodies[loop] ?? []), id];
  return bodies;
}

/** What lies in a loop that is skipped is skipped with it, and left out with it. */
export function withBodySkipped(nodes: RunSnapshot["nodes"], bodies: RunSnapshot["bodies"], loopId: string): RunSnapshot["nodes"] {
  const loop = nodes[loopId];
  if (loop?.status !== "skipped") return nodes;
  const { status, reused } = loop;
  const idle = (bodies[loopId] ?? []).filter((id) => nodes[id]?.status === "idle");
  const skipped = dictionary<NodeSnapshot>();
  for (const id of idle) if (nodes[id]) skipped[id] = { ...nodes[id], status, reused };
  return idle.length ? dictionary(nodes, skipped) : nodes;
}

/** The sums with one more item; what a try that failed used is told by the API alone. */
export function addToItemSums(items: ItemSums | undefined, event: ExecutionEvent): ItemSums | undefined {
  if ((event.type !== "node_complete" && event.type !== "node_failed") || !event.iteration) return items;
  const { count, duration_ms, input_tokens, output_tokens } = items ?? { count: 0, duration_ms: 0, input_tokens: 0, output_tokens: 0 };
  const used = event.type === "node_complete" ? event : { input_tokens: 0, output_tokens: 0 };
  return {
    count: count + 1,
    duration_ms: duration_ms + event.duration_ms,
    input_tokens: input_tokens + used.input_tokens,
    output_tokens: output_tokens + used.output_tokens,
  };
}

/** Tokens and time of a node as it is shown; of one inside loops, those of all its items together. */
export function usageOf(run: NodeSnapshot): { tokens: number; duration_ms: number | null; count: number } {
  // A loop that lies in another has a state of its own, and no tokens.
  const items = run.iterations ? undefined : run.items;
  const { input_tokens, output_tokens } = items ?? run;
  const duration_ms = run.duration_ms === null ? null : (items?.duration_ms ?? run.duration_ms);
  return { tokens: input_tokens + output_tokens, duration_ms, count: items?.count ?? 0 };
}

const plans = new WeakMap<Graph, Plan>();

/** What belongs to which loop of a graph; worked out once for each graph. */
export function planOf(graph: Graph): Plan {
  const known = plans.get(graph);
  if (known) return known;
  const plan = runPlan(graph);
  plans.set(graph, plan);
  return plan;
}

/** Where one more loop begins inside `path`. */
export const childIteration = (path: string, index: number): string => (path === "" ? String(index) : `${path}.${index}`);
