import type { Link } from "#server/features/workflow-files/n8n/source.ts";
import { findFaults, MAX_COMPARED } from "#server/workflow/graph.ts";
import { alignLoopsToFrames, bodiesOf } from "#server/workflow/layout/loop-frames.ts";
import { overlapsIn } from "#server/workflow/layout/place.ts";
import { placeNotes, tidyPositions } from "#server/workflow/layout/tidy.ts";
import type { GraphEdge, GraphNode } from "#server/workflow/schema.ts";
import { MOST_TO_DOS, type ToDo } from "#server/workflow/to-dos.ts";

// What a graph of n8n needs to be one of ours: it runs one way, no branch follows a branch, and no card lies over another.

/** The connections that lead back to where one came from, found along the ways from the trigger first. */
export function waysBack(links: readonly Link[], names: readonly string[], trigger: string | undefined): Set<Link> {
  const next = Map.groupBy(links, ({ from }) => from);
  const ways = (name: string) => (next.get(name) ?? []).values();
  const state = new Map<string, "open" | "done">();
  const back = new Set<Link>();
  const targets = new Set(links.map(({ to }) => to));
  const roots = names.toSorted((a, b) => Number(targets.has(a)) - Number(targets.has(b)));
  for (const root of trigger === undefined ? roots : [trigger, ...roots]) {
    if (state.has(root)) continue;
    const stack = [{ name: root, links: ways(root) }];
    state.set(root, "open");
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const { done, value: link } = top.links.next();
      if (done) {
        state.set(top.name, "done");
        stack.pop();
      } else if (state.get(link.to) === "open") back.add(link);
      else if (!state.has(link.to)) {
        state.set(link.to, "open");
        stack.push({ name: link.to, links: ways(link.to) });
      }
    }
  }
  return back;
}

/** Up to so many nodes and connections are set out anew, which takes ever longer the more there are. */
const MOST_SET_OUT = { nodes: 300, edges: 600, loops: 30 };

/** The nodes at the places that n8n had them, further apart as cards here are wider; set out anew where two would lie over each other. Of more than anybody draws, those places are all. */
export function placed(nodes: GraphNode[], edges: GraphEdge[]): GraphNode[] {
  const loops = nodes.filter(({ type }) => type === "loopNode").length;
  if (nodes.length > MOST_SET_OUT.nodes || edges.length > MOST_SET_OUT.edges || loops > MOST_SET_OUT.loops) return nodes;
  const data = Object.fromEntries(nodes.map((node) => [node.id, node.data]));
  const drawing = alignLoopsToFrames({ nodes, edges, data });
  const bodies = bodiesOf(drawing);
  const own = new Map(drawing.nodes.map(({ id, position }) => [id, position]));
  const places = overlapsIn(drawing, bodies).size ? tidyPositions(drawing) : placeNotes(drawing, bodies, own);
  const moved = drawing.nodes.map((node) => ({ ...node, position: places.get(node.id) ?? node.position }));
  return alignLoopsToFrames({ nodes: moved, edges, data }).nodes;
}

/** A branch right behind another one is a switch of one case here: no branch may follow a branch. */
export function separateBranches(nodes: GraphNode[], edges: readonly GraphEdge[]): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const { source, target } of edges) {
    const [from, to] = [byId.get(source), byId.get(target)];
    if (from?.type !== "branchNode" || to?.type !== "branchNode") continue;
    const { condition, ...rest } = to.data;
    to.type = "switchNode";
    to.data = { ...rest, cases: [{ id: "true", label: "True", condition }] };
    for (const edge of edges) if (edge.source === target) edge.sourceHandle = edge.sourceHandle === "true" ? "case:true" : "default";
  }
}

/** The graph without edges that no save would take: none of them must keep the workflow out. */
export function withoutFaults(nodes: GraphNode[], edges: GraphEdge[]): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const wrong = new Set(findFaults({ nodes, edges }, MAX_COMPARED).map(({ path }) => path));
  if (wrong.size === 0) return { nodes, edges };
  const kept = edges.filter((_, index) => !wrong.has(`edges.${index}`));
  const lost = edges.filter((_, index) => wrong.has(`edges.${index}`));
  const told = nodes.map((node) => {
    const ends = lost.filter(({ source }) => source === node.id).map(({ target }) => nodes.find(({ id }) => id === target)?.data.label);
    if (ends.length === 0) return node;
    const list = Array.isArray(node.data.to_do) ? (node.data.to_do as ToDo[]) : [];
    const added = {
      field: null,
      message: `n8n led on to ${ends
        .map((label) => `“${label}”`)
        .join(", ")
        .slice(0, 900)}, which cannot follow here. Connect it otherwise.`,
    };
    return { ...node, data: { ...node.data, to_do: [...list, added].slice(0, MOST_TO_DOS) } };
  });
  return { nodes: told, edges: kept };
}
