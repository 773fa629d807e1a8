import { z } from "zod";
import { Graph } from "#server/workflow/schema.ts";

// Nodes travel through the system clipboard as plain JSON, so they can be pasted into another workflow, tab or editor.

const Clip = z.object({ treadle: z.literal("nodes"), ...Graph.shape });

/** Nodes and the edges between them as text for the clipboard. */
export const toClipboard = (graph: Graph): string => JSON.stringify({ treadle: "nodes", ...graph }, null, 2);

/**
 * The graph in a pasted text: what was copied here, or any JSON with `nodes` and `edges` such as an exported workflow.
 * Null for any other text.
 */
export function fromClipboard(text: string): Graph | null {
  if (!text.trimStart().startsWith("{")) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = z.union([Clip, Graph]).safeParse(json);
  return parsed.success && parsed.data.nodes.length > 0 ? { nodes: parsed.data.nodes, edges: parsed.data.edges } : null;
}
