import { Prisma } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";
import { pageWindow } from "#server/platform/paging.ts";
import { hasWords } from "#server/platform/search-words.ts";
import type { PageInput } from "#server/shared/primitives-schema.ts";

/** A page of a list, by ids. */
interface FoundPage {
  total: number;
  ids: string[];
}

/**
 * Returns a page of the rows `x` that a search finds.
 * @param from tables and conditions, such as `agents x WHERE x.project_id = …`
 * @param text searched text of a row
 * @param order left out: newest first
 */
export async function findPage(
  { q, ...page }: PageInput & { q?: string | undefined },
  from: Prisma.Sql,
  text: Prisma.Sql,
  { id = Prisma.sql`x.id`, order = Prisma.sql`x.id DESC` }: { id?: Prisma.Sql; order?: Prisma.Sql } = {},
): Promise<FoundPage> {
  const found = Prisma.sql`FROM ${from} AND ${hasWords(q, text)}`;
  const { skip, take } = pageWindow(page);
  const [counts, rows] = await Promise.all([
    db().$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${found}`,
    db().$queryRaw<{ id: string }[]>`SELECT ${id}::text AS id ${found} ORDER BY ${order} OFFSET ${skip} LIMIT ${take}`,
  ]);
  return { total: counts[0]?.total ?? 0, ids: rows.map((row) => row.id) };
}
