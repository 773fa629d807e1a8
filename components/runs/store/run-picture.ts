import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import { type Execution, type ExecutionStatus, type ExecutionView, type ItemSums, isFinal, type NodeStatus } from "#server/runs/schema.ts";
import { dictionary, own } from "#server/shared/json-text.ts";
import type { Plan } from "#server/workflow/compile.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How one node stands in a run; of a node inside a loop, the latest iteration that came to it. */
export interface NodePicture {
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
  /** True when the result was taken over from the run that this one reruns. */
  reused: boolean;
  /** True when a pinned output was taken instead of running the node. */
  pinned?: true;
  /** True when an agent's answer ended at the limit of its length and may be cut. */
  answer_truncated?: true | undefined;
  /** Characters of the whole output when `output` is only its beginning. */
  whole_length: number | null;
  iterations?: { total: number; complete: number; failed: number };
  /** True of a node inside loops whose latest items went another way: it is shown at the last that came to it, whose output is asked for. */
  isPast?: true;
  /** Of a node inside loops: what its items took together. */
  items?: ItemSums;
}

/** Tokens, and US dollars as far as prices are known. */
export interface Used {
  input: number;
  output: number;
  cost: number;
  /** The price of some part is not known. */
  isPartial: boolean;
}

/** What the screen shows of a run, however it was put together: from the API's answer, from events, or both. */
export interface RunPicture {
  status: ExecutionStatus;
  nodes: Record<string, NodePicture>;
  /** Ids of nodes in the order in which they started. */
  order: string[];
  /** Where people are asked: node ids with the iterations that wait. */
  waiting: Readonly<Record<string, readonly string[]>>;
  /** Ids of the nodes inside each loop. */
  bodies: Readonly<Record<string, readonly string[]>>;
  /** What iterations and tries used that no node shows any more. */
  past: Used;
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

/** The picture of an execution as the API tells it. */
export function pictureOf(
  execution: Execution,
  last_event_id: number,
  view: Partial<Pick<ExecutionView, "graph" | "item_sums">> = {},
): RunPicture {
  const bodies = bodiesOf(view.graph);
  let nodes: RunPicture["nodes"] = dictionary<NodePicture>();
  for (const [id, result] of Object.entries(execution.node_results)) {
    const { completed_at: _, output_url: __, output_length: ___, truncated: ____, iterations, iteration = "", pinned, ...rest } = result;
    const items = own(view.item_sums ?? {}, id);
    const more = { ...(iterations && { iterations }), ...(pinned && { pinned }), ...(items && { items }) };
    nodes[id] = { ...untouched, ...rest, iteration, whole_length: wholeLength(result), ...more };
    // One that was stopped half way is skipped, too, but has begun.
    if (result.status === "skipped" && result.started_at === null && items?.last) nodes[id] = { ...nodes[id], ...items.last, isPast: true };
  }
  for (const loopId of Object.keys(bodies)) nodes = withBodySkipped(nodes, bodies, loopId);
  const started = Object.entries(nodes).filter(([, node]) => node.started_at !== null);
  const order = started.sort(([, a], [, b]) => ((a.started_at ?? "") < (b.started_at ?? "") ? -1 : 1)).map(([id]) => id);
  const waiting = dictionary<string[]>();
  if (!isFinal(execution.status))
    for (const { node_id, iteration, decision, decided_at } of execution.reviews)
      if (decision === null && decided_at === null) waiting[node_id] = [...(waiting[node_id] ?? []), iteration];
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

function sumOf(nodes: RunPicture["nodes"]): Used {
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
function compareIterations(a: string, b: string): number {
  const [left, right] = [a, b].map((path) => (path === "" ? [] : path.split(".").map(Number)));
  for (let depth = 0; depth < Math.max(left?.length ?? 0, right?.length ?? 0); depth++) {
    const difference = (left?.[depth] ?? -1) - (right?.[depth] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The picture after one more event. An event that was taken in before changes nothing, and one that tells what the picture
 * knows already (the API's answer may be newer than the events that follow it) never turns a finished node back. Of a node
 * inside a loop the latest iteration is kept: what is told of an earlier one is counted by the loop.
 */
export function applyEvent(picture: RunPicture, id: number, event: ExecutionEvent): RunPicture {
  if (id <= picture.last_event_id) return picture;
  const next = afterEvent({ ...picture, last_event_id: id }, event);
  if (isFinal(next.status)) return next;
  // Each review is told when it is asked, and other branches go on: the run is paused while nothing but people is at work.
  // A loop whose items wait is at work only by name.
  const isBusy = () => Object.values(next.nodes).some((node) => node.status === "running" && node.iterations === undefined);
  const status = Object.keys(next.waiting).length > 0 && !isBusy() ? "paused" : next.order.length > 0 ? "running" : next.status;
  return status === next.status ? next : { ...next, status };
}

type NodeEvent = Extract<ExecutionEvent, { node_id: string }>;

function afterEvent(picture: RunPicture, event: ExecutionEvent): RunPicture {
  switch (event.type) {
    case "execution_resumed":
      return picture;
    case "execution_complete":
    case "execution_failed":
      return {
        ...settled(picture),
        status: event.status,
        duration_ms: event.duration_ms,
        output: event.type === "execution_complete" ? event.output : picture.output,
        error: event.type === "execution_failed" ? event.error : null,
      };
    default:
      return withWaiting(withNode(picture, event), event);
  }
}

/** Takes note of who waits and who does not any more. */
function withWaiting(picture: RunPicture, event: NodeEvent): RunPicture {
  const { node_id, iteration = "" } = event;
  const before = picture.waiting[node_id] ?? [];
  if (event.type === "execution_paused") {
    const node = picture.nodes[node_id];
    const isPast = node?.iteration === iteration && isOver(node.status);
    return isPast || before.includes(iteration)
      ? picture
      : { ...picture, waiting: dictionary(picture.waiting, { [node_id]: [...before, iteration] }) };
  }
  const isEnd = event.type === "node_complete" || event.type === "node_failed" || event.type === "node_skipped";
  if (!isEnd || !before.includes(iteration)) return picture;
  const { [node_id]: _, ...others } = picture.waiting;
  const rest = before.filter((path) => path !== iteration);
  return { ...picture, waiting: dictionary(others, rest.length ? { [node_id]: rest } : {}) };
}

function withNode(picture: RunPicture, event: NodeEvent): RunPicture {
  const { node_id, iteration = "" } = event;
  const known = picture.nodes[node_id] ?? untouched;
  // An item that goes another way leaves what is shown of those that came here.
  if (event.type === "node_skipped" && known.started_at !== null && known.iteration !== iteration) return picture;
  const order = known.status === "idle" && known.iteration === "" ? 0 : compareIterations(iteration, known.iteration);
  const items = itemsAfter(known.items, event);
  if (order < 0) {
    const earlier =
      items === known.items
        ? picture
        : { ...picture, nodes: dictionary(picture.nodes, { [node_id]: { ...known, ...(items && { items }) } }) };
    return event.type === "node_complete" ? withPast(earlier, event) : earlier;
  }
  const isNext = order > 0;
  const node = isNext || known.iteration !== iteration ? { ...untouched, iteration } : known;
  const changed = patchOf(node, event);
  if (!changed) return picture;
  const merged: NodePicture = { ...node, ...changed, ...(items && { items }) };
  const isNew = merged.started_at !== null && !picture.order.includes(node_id);
  const kept = isNext ? withPast(picture, known) : picture;
  const nodes = withBodySkipped(dictionary(picture.nodes, { [node_id]: merged }), picture.bodies, node_id);
  return { ...kept, order: isNew ? [...picture.order, node_id] : picture.order, nodes };
}

type Counted = { input_tokens: number; output_tokens: number; cost?: number | null | undefined };

function withPast(picture: RunPicture, { input_tokens, output_tokens, cost = 0 }: Counted): RunPicture {
  if (input_tokens + output_tokens === 0 && cost === 0) return picture;
  const { input, output, cost: before, isPartial } = picture.past;
  const past = {
    input: input + input_tokens,
    output: output + output_tokens,
    cost: before + (cost ?? 0),
    isPartial: isPartial || cost === null,
  };
  return { ...picture, past };
}

/** What an event changes about the iteration that it tells of; null for nothing. */
function patchOf(node: NodePicture, event: NodeEvent): Partial<NodePicture> | null {
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
      return { status: "skipped" };
    case "loop_progress":
      return { iterations: { total: event.total, complete: event.complete, failed: event.failed } };
    case "execution_paused":
      return isOver(node.status) ? null : { status: "waiting", started_at: node.started_at ?? event.timestamp };
  }
}

/** At the end nothing runs any more: what was under way or never reached has been skipped. */
function settled(picture: RunPicture): RunPicture {
  const nodes = Object.fromEntries(
    Object.entries(picture.nodes).map(([id, node]) => [id, isOver(node.status) ? node : { ...node, status: "skipped" as const }]),
  );
  return { ...picture, nodes: dictionary(nodes), waiting: dictionary() };
}

/** What a card shows: a node not yet reached in a run that goes on is queued. */
export type CardStatus = NodeStatus | "queued";

/** A node at which an iteration waits for somebody shows that, whatever later iterations do. */
export function cardStatus(picture: RunPicture, nodeId: string): CardStatus {
  if (picture.waiting[nodeId]) return "waiting";
  const status = picture.nodes[nodeId]?.status ?? "idle";
  return status === "idle" && !isFinal(picture.status) ? "queued" : status;
}

/** True for a type at which a person is asked; other nodes wait for a time, or for a call. */
export const isReview = (type: string | undefined): boolean => definitionOf(type ?? "")?.rejects !== undefined;

/** Whether somebody is asked in the run that is shown. */
export const isAsking = ({ picture, view }: { picture: RunPicture | null; view: ExecutionView | null }): boolean =>
  view?.graph.nodes.some(({ id, type }) => picture?.waiting[id] !== undefined && isReview(type)) ?? false;

/** What the whole run has used so far; its cost is null when nothing of it is known. */
export function totalOf({ nodes, past }: RunPicture): Omit<Used, "cost"> & { cost: number | null } {
  const shown = sumOf(nodes);
  const isPartial = shown.isPartial || past.isPartial;
  // Sums of fractions end in digits that no price has.
  const cost = Number((shown.cost + past.cost).toFixed(12));
  return { input: shown.input + past.input, output: shown.output + past.output, cost: cost === 0 && isPartial ? null : cost, isPartial };
}

// What a run's picture (run-picture.ts) tells of loops: what lies in them, and what their items took together.

/** Ids of the nodes in each loop, those of the loops within it too. */
export function bodiesOf(graph: Graph | undefined): Record<string, string[]> {
  const bodies = dictionary<string[]>();
  const plan = graph && planOf(graph);
  for (const { id } of graph?.nodes ?? []) for (const loop of plan?.loopsAround(id) ?? []) bodies[loop] = [...(bodies[loop] ?? []), id];
  return bodies;
}

/** What lies in a loop that is skipped is skipped with it, and left out with it. */
export function withBodySkipped(nodes: RunPicture["nodes"], bodies: RunPicture["bodies"], loopId: string): RunPicture["nodes"] {
  const loop = nodes[loopId];
  if (loop?.status !== "skipped") return nodes;
  const { status, reused } = loop;
  const idle = (bodies[loopId] ?? []).filter((id) => nodes[id]?.status === "idle");
  const skipped = dictionary<NodePicture>();
  for (const id of idle) if (nodes[id]) skipped[id] = { ...nodes[id], status, reused };
  return idle.length ? dictionary(nodes, skipped) : nodes;
}

/** The sums with one more item; what a try that failed used is told by the API alone. */
export function itemsAfter(items: ItemSums | undefined, event: ExecutionEvent): ItemSums | undefined {
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
export function usedBy(run: NodePicture): { tokens: number; duration_ms: number | null; count: number } {
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
export const innerPath = (path: string, index: number): string => (path === "" ? String(index) : `${path}.${index}`);
