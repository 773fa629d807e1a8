import type { Prisma } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";
import { wordsOf } from "#server/platform/search-words.ts";
import { findText } from "#server/shared/find-text.ts";
import { FOLDING, searchWords, wordsQuery } from "#server/shared/search-text.ts";
import { Graph } from "#server/workflow/schema.ts";

/** How much of a workflow is searched: labels and prompts of some dozen nodes. */
const MOST_CHARACTERS = 8000;
const MAX_WORDS = 4000;
/** Words of a search that count. */
const MAX_QUERY_WORDS = 12;

/** Lexeme that no word equals. An earlier release removes it with what it writes. */
const FOLDING_MARK = `folding_${FOLDING}`;

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

/** Stores the words by which a workflow's current version is found. */
export async function keepText(
  tx: Prisma.TransactionClient,
  workflow: { id: string; name: string; description: string },
  graph: Graph | null,
): Promise<void> {
  const text = `${workflow.name}\n${workflow.description}\n${graph ? searchedText(graph) : ""}`.toWellFormed();
  const words = [FOLDING_MARK, ...searchWords(text, MAX_WORDS)];
  await tx.$executeRaw`
    INSERT INTO workflow_texts (workflow_id, search) VALUES (${workflow.id}::uuid, array_to_tsvector(${words}::text[]))
    ON CONFLICT (workflow_id) DO UPDATE SET search = excluded.search`;
}

/** Workflows per transaction of `rebuildTexts`: saving one of them waits for it. */
const BATCH_SIZE = 50;

/**
 * Stores the words of workflows again that an earlier release has stored, one batch. The row locks are the lease, so a killed
 * process leaves its batch to the next one.
 * @returns false when none is left
 */
export const rebuildTexts = (): Promise<boolean> =>
  db().$transaction(async (tx) => {
    // The literal lets the planner use workflow_texts_outdated_idx.
    const claimed = await tx.$queryRawUnsafe<{ workflow_id: string }[]>(`
      SELECT workflow_id
      FROM workflow_texts
      WHERE NOT search @@ '${FOLDING_MARK}'::tsquery
      LIMIT ${BATCH_SIZE}
      FOR UPDATE SKIP LOCKED`);
    const ids = claimed.map(({ workflow_id }) => workflow_id);
    const rows = await tx.$queryRaw<{ id: string; name: string; description: string; graph: unknown }[]>`
      SELECT w.id, w.name, w.description, s.graph
      FROM workflows w
      LEFT JOIN workflow_snapshots s ON s.id = w.snapshot_id
      WHERE w.id = ANY(${ids}::uuid[])`;

    for (const row of rows) await keepText(tx, row, Graph.safeParse(row.graph).data ?? null);
    return rows.length > 0;
  });

/** Returns a `tsquery` for workflows that have each word of a search, by its beginning. */
export function textQuery(q: string): string {
  const earlier = wordsOf(q).map((word) => word.toLowerCase());
  return wordsQuery(searchWords(q, MAX_QUERY_WORDS), earlier);
}

const AROUND = 60;

/** Returns the first place of a graph that has a word of a search: the node with its label, and a line of the text around it. */
export function placeOf({ nodes }: Graph, q: string): { node_id: string; label: string; text: string } | null {
  const words = [...wordsOf(q), ...searchWords(q, MAX_QUERY_WORDS)];
  for (const { id, data } of nodes) {
    const { label, pinned: _, ...config } = data;
    for (const text of [String(label ?? ""), ...textsIn(config)]) {
      const at = words.map((word) => findText(text, word)?.start).find((start) => start !== undefined);
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
