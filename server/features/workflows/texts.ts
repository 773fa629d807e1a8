import type { Prisma } from "#prisma/generated/client.ts";
import { lexemeQuery } from "#server/shared/search-text.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How much of a workflow is searched: labels and prompts of some dozen nodes. */
const MOST_CHARACTERS = 8000;

/** Every text in a value, wherever it stands in it. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (value !== null && typeof value === "object") for (const part of Object.values(value)) yield* textsIn(part);
}

/** What stands in the nodes of a graph, labels first. What people pinned for a test is no part of it. */
function searchedText({ nodes }: Graph): string {
  const parts = nodes.map(({ data: { label, pinned: _, ...config } }) => ({ label: String(label ?? ""), config }));
  const all = [...parts.map(({ label }) => label), ...parts.flatMap(({ config }) => [...textsIn(config)])].filter(Boolean);
  return all.join("\n").slice(0, MOST_CHARACTERS);
}

/** Keeps the words by which a workflow's current version is found. In lower case from here: the database folds A to Z only. */
export async function keepText(
  tx: Prisma.TransactionClient,
  workflow: { id: string; name: string; description: string },
  graph: Graph,
): Promise<void> {
  const text = `${workflow.name}\n${workflow.description}\n${searchedText(graph)}`.toWellFormed().toLowerCase();
  await tx.$executeRaw`
    INSERT INTO workflow_texts (workflow_id, search) VALUES (${workflow.id}::uuid, to_tsvector('simple', ${text}))
    ON CONFLICT (workflow_id) DO UPDATE SET search = excluded.search`;
}

/** A search as PostgreSQL asks for it: each word by its beginning. */
export const textQuery = (words: readonly string[]): string => words.map((word) => lexemeQuery(word.toLowerCase(), true)).join(" & ");

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
