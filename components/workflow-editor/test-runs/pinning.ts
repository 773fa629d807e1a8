import { plural } from "#components/format.ts";
import type { RunSnapshot } from "#components/runs/store/run-snapshot.ts";
import { withBodies } from "#components/workflow-editor/canvas/document/edits.ts";
import { accessibleName, labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import type { EditorState, EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { isLoop } from "#server/workflow/layout/loop-frames.ts";
import { canPin, pinFault } from "#server/workflow/pins.ts";
import { MAX_PINNED, Pinned } from "#server/workflow/schema.ts";

/** Most characters of all pinned outputs together: they travel with every autosave. */
const MAX_TOGETHER = 16 * MAX_PINNED;

export const pinnedIn = (data: Record<string, unknown> | undefined): string | null => Pinned.safeParse(data?.pinned).data?.output ?? null;

/** Ids of the nodes with a pinned output that test runs take. */
export const pinnedNodes = ({ nodes, data }: Pick<EditorState, "nodes" | "data">): string[] =>
  nodes.flatMap(({ id, type }) => (pinnedIn(data[id]) !== null && canPin({ type: type ?? "" }) ? [id] : []));

/** Ids of the nodes whose work a test run does not do: pinned ones, and what stands in the loops among them. */
export function nodesNotRun(state: Pick<EditorState, "nodes" | "edges" | "data">): string[] {
  const pinned = pinnedNodes(state);
  const isLoopPinned = state.nodes.some(({ id, type }) => isLoop(type) && pinned.includes(id));
  return isLoopPinned ? [...withBodies(state, pinned)] : pinned;
}

const named = ({ nodes, data }: EditorState, id: string) => accessibleName(nodes.find((node) => node.id === id)?.type, data[id]);

function withData(state: EditorState, changes: ReadonlyMap<string, string | null>) {
  const data = { ...state.data };
  for (const [id, output] of changes) {
    const { pinned: _, ...rest } = data[id] ?? {};
    data[id] = output === null ? rest : { ...rest, pinned: { output } };
  }
  return { nodes: state.nodes, edges: state.edges, data };
}

/** Why a text cannot be pinned as the output of a node on the canvas, as a sentence, or null. */
export function validatePin({ nodes, data }: Pick<EditorState, "nodes" | "data">, id: string, output: string): string | null {
  if (output.length > MAX_PINNED) return `A pinned output has at most ${MAX_PINNED / 1024} Ki characters, and this one has more.`;
  const others = nodes.reduce((sum, node) => sum + (node.id === id ? 0 : (pinnedIn(data[node.id])?.length ?? 0)), 0);
  if (others + output.length > MAX_TOGETHER) return "There is no room for more pinned outputs in this workflow. Unpin one first.";
  return pinFault({ type: nodes.find((node) => node.id === id)?.type, data: data[id] }, output);
}

/** Pins an output as one step of undo. @returns why not, or null */
export function pinOutput(editor: EditorStore, id: string, output: string): string | null {
  const state = editor.getState();
  const refusal = state.isReadOnly ? "This workflow is open for reading only." : validatePin(state, id, output);
  if (refusal) return refusal;
  state.apply(`pin the output of ${named(state, id)}`, withData(state, new Map([[id, output]])), { say: `${named(state, id)} pinned` });
  return null;
}

/** Takes pins away as one step of undo. */
export function unpin(editor: EditorStore, ids: readonly string[]): void {
  const state = editor.getState();
  const [only] = ids;
  const what = ids.length === 1 && only ? named(state, only) : plural(ids.length, "node");
  state.apply(`unpin ${what}`, withData(state, new Map(ids.map((id) => [id, null]))), { say: `${what} unpinned` });
}

/**
 * Pins what the nodes left behind in a run, as one step of undo. Nodes inside loops are left out (their loop is pinned), and
 * so is what is too large.
 * @returns how many were pinned, and the labels of those that were too large
 */
export function pinRun(editor: EditorStore, snapshot: RunSnapshot): { count: number; tooLarge: string[] } {
  const state = editor.getState();
  const changes = new Map<string, string>();
  const tooLarge: string[] = [];
  let total = 0;
  for (const { id, type } of state.nodes) {
    const run = snapshot.nodes[id];
    // What one that is switched off left behind is not its own.
    if (state.data[id]?.disabled === true) continue;
    if (run?.status !== "complete" || run.iteration !== "" || run.output === null || pinFault({ type, data: state.data[id] }, run.output))
      continue;
    total += run.output.length;
    if (run.whole_length !== null || run.output.length > MAX_PINNED || total > MAX_TOGETHER) tooLarge.push(labelOf(state.data[id], type));
    else changes.set(id, run.output);
  }
  if (changes.size > 0 && !state.isReadOnly) {
    const say = `${plural(changes.size, "output")} pinned`;
    state.apply("pin the outputs of a run", withData(state, changes), { say });
  }
  return { count: changes.size, tooLarge };
}
