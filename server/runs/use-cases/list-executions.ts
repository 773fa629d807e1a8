import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { ExecutionSummary, ListExecutionsInput } from "#server/runs/schema.ts";
import { conditions, countExecutions, countedPieces, type ExecutionFilter } from "#server/runs/use-cases/count-executions.ts";
import { summaryDto, summaryFields } from "#server/runs/use-cases/execution-dto.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** An end of time, for a list from its newest. */
const NOW = "infinity";

/** Where a page begins: how many to pass over among those created before `until`. A deep page is reached over counted pieces. */
async function startOf(filter: ExecutionFilter, skip: number, { newer, until }: { newer: number; until: Date }) {
  if (skip <= newer) return { before: NOW, skip };
  let left = skip - newer;
  let before: Date = until;
  for (const piece of await countedPieces(filter)) {
    before = piece.until;
    if (left < piece.count) break;
    left -= piece.count;
  }
  return { before, skip: left };
}

async function idsOf(filter: ExecutionFilter, page: PageInput, counted: Awaited<ReturnType<typeof countExecutions>>): Promise<string[]> {
  const { skip, take } = pageWindow(page);
  if (skip >= counted.total) return [];
  const start = await startOf(filter, skip, counted);
  const {
    executions,
    values: [project, ...values],
  } = conditions(filter, 5);
  const { rows } = await pool().query<{ id: string }>(
    `SELECT e.id FROM executions e WHERE ${executions} AND e.created_at < $2::timestamptz
     ORDER BY e.created_at DESC, e.id DESC OFFSET $3 LIMIT $4`,
    [project, start.before, start.skip, take, ...values],
  );
  return rows.map(({ id }) => id);
}

/** The project's executions, newest first. A workflow that does not exist has none. */
export async function listExecutions({ project }: ProjectPrincipal, input: ListExecutionsInput): Promise<Page<ExecutionSummary>> {
  const { workflow_id, status } = input;
  if (workflow_id && !isUuid(workflow_id)) return paged(input, [0, []], summaryDto);
  const filter = { project_id: project.id, workflow_id, status };
  const counted = await countExecutions(filter);
  const ids = await idsOf(filter, input, counted);
  const rows = await db().execution.findMany({
    where: { id: { in: ids } },
    select: summaryFields,
    orderBy: [{ created_at: "desc" }, { id: "desc" }],
  });
  return paged(input, [counted.total, rows], summaryDto);
}
