import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** `skip` and `take` of a page, for Prisma. */
export const pageWindow = ({ page, per_page }: PageInput): { skip: number; take: number } => ({
  skip: (page - 1) * per_page,
  take: per_page,
});

/**
 * The list envelope. Use it as `paged(input, await Promise.all([db().x.count({ where }), db().x.findMany({ where, ...pageWindow(input) })]), toDto)`.
 * @param input page (from 1) and per_page as the caller asked
 * @param result how many there are in all, and the rows of this page
 */
export function paged<Row, Item>({ page, per_page }: PageInput, [total, rows]: [number, Row[]], toDto: (row: Row) => Item): Page<Item> {
  return { items: rows.map(toDto), total, page, per_page };
}
