import { z } from "zod";
import { Graph } from "#server/schemas/graph.ts";

// A copy of what the server does not have yet, kept in the browser so that neither a crash nor a conflict loses it.

const Copy = z.object({ graph: Graph, revision: z.number().int() });
export type UnsavedCopy = z.infer<typeof Copy>;

const keyOf = (workflowId: string) => `treadle.unsaved.${workflowId}`;

/** Best effort: without storage (private window, full disk) the work is still in the open page. */
export function keepCopy(workflowId: string, copy: UnsavedCopy): void {
  try {
    localStorage.setItem(keyOf(workflowId), JSON.stringify(copy));
  } catch {
    // See above.
  }
}

export function dropCopy(workflowId: string): void {
  try {
    localStorage.removeItem(keyOf(workflowId));
  } catch {
    // See above.
  }
}

export function readCopy(workflowId: string): UnsavedCopy | null {
  try {
    const parsed = Copy.safeParse(JSON.parse(localStorage.getItem(keyOf(workflowId)) ?? "null"));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
