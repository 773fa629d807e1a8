import { Prisma } from "#prisma/generated/client.ts";
import { summaryDto, summaryFields } from "#server/features/workflows/rows.ts";
import type {
  ListedWorkflow,
  ListWorkflowsInput,
  WorkflowFacets,
  WorkflowFilter,
  WorkflowSort,
} from "#server/features/workflows/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { pageWindow } from "#server/platform/paging.ts";
import { escapeLike, hasWords } from "#server/platform/search-words.ts";
import { latestRunOf } from "#server/runs/store/executions.ts";
import type { Page } from "#server/shared/primitives-schema.ts";

const LAST_RUN = Prisma.sql`(SELECT r.created_at FROM (${latestRunOf(Prisma.sql`w.id`)}) AS r)`;

/** What a sort means in SQL; ids are in the order of creation. */
const orders: Record<WorkflowSort, Prisma.Sql> = {
  name: Prisma.sql`lower(w.name), w.id`,
  "-name": Prisma.sql`lower(w.name) DESC, w.id DESC`,
  updated: Prisma.sql`w.updated_at, w.id`,
  "-updated": Prisma.sql`w.updated_at DESC, w.id DESC`,
  created: Prisma.sql`w.id`,
  "-created": Prisma.sql`w.id DESC`,
  last_run: Prisma.sql`${LAST_RUN} NULLS LAST, w.id`,
  "-last_run": Prisma.sql`${LAST_RUN} DESC NULLS LAST, w.id DESC`,
};

/** The workflows `w` of a project that a filter gives, as a condition. */
function chosen(project_id: string, { q, tag, folder, enabled }: WorkflowFilter): Prisma.Sql {
  const tags =
    tag
      ?.split(",")
      .map((each) => each.trim())
      .filter(Boolean) ?? [];
  const conditions = [
    Prisma.sql`w.project_id = ${project_id}::uuid AND w.deleted_at IS NULL`,
    hasWords(q, Prisma.sql`concat_ws(' ', w.name, w.description, w.folder, array_to_string(w.tags, ' '))`),
    ...(tags.length ? [Prisma.sql`w.tags @> ${tags}::text[]`] : []),
    ...(folder === "" ? [Prisma.sql`w.folder IS NULL`] : []),
    ...(folder ? [Prisma.sql`(w.folder = ${folder} OR w.folder LIKE ${`${escapeLike(folder)}/%`})`] : []),
    ...(enabled === undefined ? [] : [Prisma.sql`w.enabled = ${enabled}`]),
  ];
  return Prisma.join(conditions, " AND ");
}

interface ListRow {
  id: string;
  run_id: string | null;
  run_status: NonNullable<ListedWorkflow["last_run"]>["status"];
  run_created_at: Date;
}

/** The project's workflows that a filter gives, sorted as asked, each with its latest run. */
export async function listWorkflows({ project }: ProjectPrincipal, input: ListWorkflowsInput): Promise<Page<ListedWorkflow>> {
  const { skip, take } = pageWindow(input);
  const where = chosen(project.id, input);
  const order = orders[input.sort];
  const [[counted], found] = await Promise.all([
    db().$queryRaw<{ count: number }[]>`SELECT count(*)::int AS count FROM workflows w WHERE ${where}`,
    db().$queryRaw<ListRow[]>`
      SELECT page.id, r.id AS run_id, r.status::text AS run_status, r.created_at AS run_created_at
      FROM (SELECT w.id, row_number() OVER (ORDER BY ${order}) AS n FROM workflows w WHERE ${where} ORDER BY n OFFSET ${skip} LIMIT ${take}) AS page
      LEFT JOIN LATERAL (${latestRunOf(Prisma.sql`page.id`)}) AS r ON true
      ORDER BY page.n`,
  ]);
  const rows = await db().workflow.findMany({ where: { id: { in: found.map(({ id }) => id) } }, select: summaryFields });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const items = found.flatMap(({ id, run_id, run_status, run_created_at }) => {
    const row = byId.get(id);
    const last_run = run_id === null ? null : { id: run_id, status: run_status, created_at: run_created_at.toISOString() };
    return row ? [{ ...summaryDto(row), last_run }] : [];
  });
  return { items, total: counted?.count ?? 0, page: input.page, per_page: input.per_page };
}

/** Ids and names of the workflows that a filter gives, newest first, at most `most`. */
export const filteredWorkflows = ({ project }: ProjectPrincipal, filter: WorkflowFilter, most: number) =>
  db().$queryRaw<{ id: string; name: string }[]>`
    SELECT w.id, w.name FROM workflows w WHERE ${chosen(project.id, filter)} ORDER BY w.id DESC LIMIT ${most}`;

/** More than this cannot be chosen from in a list. */
const MOST_FACETS = 1000;

/** The folders and tags of a project's workflows, in their order, with how many workflows each has. */
export async function workflowFacets({ project }: ProjectPrincipal): Promise<WorkflowFacets> {
  const all = chosen(project.id, {});
  const [folders, tags, [counts]] = await Promise.all([
    db().$queryRaw<WorkflowFacets["folders"]>`
      SELECT w.folder, count(*)::int AS count FROM workflows w WHERE ${all} AND w.folder IS NOT NULL
      GROUP BY w.folder ORDER BY lower(w.folder), w.folder LIMIT ${MOST_FACETS}`,
    db().$queryRaw<WorkflowFacets["tags"]>`
      SELECT tag, count(*)::int AS count FROM workflows w CROSS JOIN unnest(w.tags) AS tag WHERE ${all}
      GROUP BY tag ORDER BY lower(tag), tag LIMIT ${MOST_FACETS}`,
    db().$queryRaw<Pick<WorkflowFacets, "unfiled" | "total">[]>`
      SELECT count(*) FILTER (WHERE w.folder IS NULL)::int AS unfiled, count(*)::int AS total FROM workflows w WHERE ${all}`,
  ]);
  return { folders, tags, unfiled: counts?.unfiled ?? 0, total: counts?.total ?? 0 };
}
