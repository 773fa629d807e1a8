import type { Prisma } from "#prisma/generated/client.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How much of a workflow is searched: labels and prompts of some dozen nodes. */
const MOST_CHARACTERS = 8000;

/** Every text in a value, wherever it stands in it. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (value !== null && typeof value === "object") for (const part of Object.values(value)) yield* textsIn(part);
}

/** What stands in the nodes of a graph, labels first, in lower case. What people pinned for a test is no part of it. */
function searchedText({ nodes }: Graph): string {
  const parts = nodes.map(({ data: { label, pinned: _, ...config } }) => ({ label: String(label ?? ""), config }));
  const all = [...parts.map(({ label }) => label), ...parts.flatMap(({ config }) => [...textsIn(config)])].filter(Boolean);
  return all.join("\n").slice(0, MOST_CHARACTERS).toLowerCase();
}

/** Keeps what the search reads of a workflow's current version. */
export async function keepText(tx: Prisma.TransactionClient, workflow_id: string, graph: Graph): Promise<void> {
  const text = searchedText(graph).toWellFormed();
  await tx.workflowText.upsert({ where: { workflow_id }, create: { workflow_id, text }, update: { text } });
}

const AROUND = 60;

/**
 * Where in a graph one of the words stands, for people: the node with its label, and a line of the text around it.
 * @param words in lower case
 */
export function placeOf({ nodes }: Graph, words: readonly string[]): { node_id: string; label: string; text: string } | null {
  for (const { id, data } of nodes) {
    const { label, pinned: _, ...config } = data;
    for (const text of [String(label ?? ""), ...textsIn(config)]) {
      const at = words.map((word) => text.toLowerCase().indexOf(word)).find((index) => index >= 0);
      if (at === undefined) continue;
      const from = Math.max(0, at - AROUND / 2);
      const part = text
        .slice(from, at + AROUND)
        .replace(/\s+/g, " ")
        .trim();
      return { node_id: id, label: String(label ?? ""), text: `${from > 0 ? "…" : ""}${part}${at + AROUND < text.length ? "…" : ""}` };
    }
  }
  return null;
}
