import { z } from "zod";
import { Graph } from "#server/workflow/schema.ts";

// A copy of what the server does not have yet, kept in the browser so that neither a crash nor a conflict loses it.

const Copy = z.object({
  graph: Graph,
  revision: z.number().int(),
  /** What the server had at that revision, so that both sides can be put together when it has moved on. */
  base: Graph.optional().catch(undefined),
});
export type UnsavedCopy = z.infer<typeof Copy>;

const keyOf = (workflowId: string) => `treadle.unsaved.${workflowId}`;

/** Best effort: without storage (private window, full disk) the work is still in the open page. */
export function keepCopy(workflowId: string, copy: UnsavedCopy): void {
  const { base: _, ...work } = copy;
  for (const kept of [copy, work])
    try {
      localStorage.setItem(keyOf(workflowId), JSON.stringify(kept));
      return;
    } catch {
      // See above. The work alone takes half of the room.
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
