import { type FlowDocument, toGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { isLoop } from "#server/workflow/layout/loop-frames.ts";

/** How many steps can be taken back. */
export const HISTORY_LIMIT = 50;
/** Edits of one kind closer together than this many milliseconds are one step: keys in a field, arrow keys on a node. */
export const BURST_MS = 1000;

export interface HistoryStep {
  /** What was done, for "Undo: move Research". */
  name: string;
  /** The document on the other side of the step. */
  document: FlowDocument;
}

export interface History {
  past: HistoryStep[];
  future: HistoryStep[];
  /** The burst that further edits of the same kind join. */
  burst: { key: string; at: number } | null;
}

export const emptyHistory: History = { past: [], future: [], burst: null };

/**
 * Notes that `before` is about to change.
 * @param key edits with the same key in quick succession become one step; left out, each edit is a step
 */
export function recordStep(history: History, name: string, before: FlowDocument, now: number, key?: string): History {
  const joins = key !== undefined && history.burst?.key === key && now - history.burst.at < BURST_MS && history.future.length === 0;
  const burst = key === undefined ? null : { key, at: now };
  if (joins) return { ...history, burst };
  return { past: [...history.past, { name, document: before }].slice(-HISTORY_LIMIT), future: [], burst };
}

/** One step back, or null when there is none. */
export function undo(history: History, current: FlowDocument): { history: History; step: HistoryStep } | null {
  const step = history.past.at(-1);
  if (!step) return null;
  return {
    step,
    history: { past: history.past.slice(0, -1), future: [{ name: step.name, document: current }, ...history.future], burst: null },
  };
}

/** One step forward again, or null when there is none. */
export function redo(history: History, current: FlowDocument): { history: History; step: HistoryStep } | null {
  const [step, ...future] = history.future;
  if (!step) return null;
  return { step, history: { past: [...history.past, { name: step.name, document: current }].slice(-HISTORY_LIMIT), future, burst: null } };
}

/** Those that are not among the others, or not as they are there. */
function unlike<Item extends { id: string }>(items: readonly Item[], others: readonly Item[]): Item[] {
  const known = new Map(others.map((item) => [item.id, JSON.stringify(item)]));
  return items.filter((item) => known.get(item.id) !== JSON.stringify(item));
}

/**
 * What is selected after a step: of what it brings back or changes that which was selected when it was made, or else all of
 * it. Connections are selected only when it leaves every node alone.
 */
function selectionOf(
  to: FlowDocument,
  from: FlowDocument,
): { nodes: ReadonlySet<string>; edges: ReadonlySet<string>; changed: ReadonlySet<string> } {
  const [then, now] = [toGraph(to), toGraph(from)];
  const nodes = unlike(then.nodes, now.nodes);
  const edges = unlike(then.edges, now.edges);
  const ids = (items: readonly { id: string }[]) => new Set(items.map(({ id }) => id));
  const wasSelected = ids(to.nodes.filter((node) => node.selected));
  const chosen = nodes.filter(({ id }) => wasSelected.has(id));
  // A frame's place follows its body: that alone is no change of the loop.
  const placeless = (items: typeof nodes) => items.map((node) => (isLoop(node.type) ? { ...node, position: { x: 0, y: 0 } } : node));
  return {
    nodes: ids(chosen.length ? chosen : unlike(placeless(nodes), placeless(now.nodes))),
    edges: ids(nodes.length ? [] : edges),
    changed: ids(nodes),
  };
}

/** The document of a step as it is drawn now: with today's measurements, and selected only what the step brings back or changes. */
export function restoreDocument(document: FlowDocument, current: FlowDocument): FlowDocument {
  const { nodes, edges, changed } = selectionOf(document, current);
  const now = new Map(current.nodes.map((node) => [node.id, node]));
  return {
    ...document,
    nodes: document.nodes.map((node) => {
      const same = now.get(node.id);
      const selected = nodes.has(node.id);
      // What looks as it did stays the same object, so that React Flow leaves it alone.
      if (same && !changed.has(node.id)) return (same.selected ?? false) === selected ? same : { ...same, selected };
      return { ...node, dragging: false, selected, ...(same?.measured && { measured: same.measured }) };
    }),
    edges: document.edges.map((edge) =>
      (edge.selected ?? false) === edges.has(edge.id) ? edge : { ...edge, selected: edges.has(edge.id) },
    ),
  };
}

/** Another document in the place of this one: what was selected stays so, as far as it is still there. */
export function replaceDocument(document: FlowDocument, current: FlowDocument): FlowDocument {
  const now = new Map(current.nodes.map((node) => [node.id, node]));
  return {
    ...document,
    nodes: document.nodes.map((node) => {
      const { selected = false, measured } = now.get(node.id) ?? {};
      return { ...node, selected, ...(measured && { measured }) };
    }),
  };
}
