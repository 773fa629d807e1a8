import type { z } from "zod";
import type { BulkAction as Row } from "#prisma/generated/client.ts";
import { bulkAsked } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import {
  type BulkAction,
  type BulkInput,
  BulkKind,
  type BulkRef,
  type BulkResult,
  MOST_MATCHING,
  MOST_RERUNS,
} from "#server/features/executions/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { assertKeyMay, assertSeesRuns } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, notFound } from "#server/platform/errors.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import { allExecutions, ownExecutions } from "#server/runs/store/find-executions.ts";
import { executionSearch } from "#server/runs/use-cases/list-executions.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";

// Something is done with many runs: which ones is decided when it is asked for, the rest is a job (bulk-work.ts).

/** How many may be under way in a project at once. */
const MOST_UNDER_WAY = 20;

const number = (count: number) => count.toLocaleString("en");
const resourceOf = ({ id, count }: { id: string; count: number }) =>
  ({
    resource_type: "execution",
    resource_id: id,
    resource_name: count === 1 ? "1 run" : `${number(count)} runs`,
  }) as const;

async function meant(principal: ProjectPrincipal, { ids, filter, action }: BulkInput): Promise<string[]> {
  if ((ids === undefined) === (filter === undefined))
    throw invalidField("ids", "Name the executions by ids or by a filter, by one of them.");
  const most = action === "rerun" ? MOST_RERUNS : MOST_MATCHING;
  const search = filter && executionSearch(runScopeOf(principal), filter);
  const found = ids ? await ownExecutions(runScopeOf(principal), ids) : search ? await allExecutions(search) : [];
  if (!found || found.length > most) {
    const verb = { cancel: "cancelled", rerun: "run again", delete: "deleted" }[action];
    const count = found ? number(found.length) : `more than ${number(MOST_MATCHING)}`;
    throw invalidField(
      "filter",
      `The filter matches ${count} runs; ${number(most)} can be ${verb} at once. Narrow it, for example by time.`,
    );
  }
  return found;
}

/**
 * Has something done with many executions. Which ones is settled here; the rest happens in the background, whatever becomes of this
 * process.
 * @throws AppError VALIDATION_ERROR for too many, or neither ids nor a filter; CONFLICT when too much is under way already;
 *   PERMISSION_DENIED for a key that may not write and is to delete
 */
export async function startBulk(principal: ProjectPrincipal, input: BulkInput): Promise<z.infer<typeof BulkResult>> {
  const { id: project_id } = principal.project;
  const { action, use_current } = input;
  if (action === "delete") assertKeyMay(principal, { scope: "write" });
  const execution_ids = await meant(principal, input);
  const count = execution_ids.length;
  const id = newId();
  await db().$transaction(async (tx) => {
    const underWay = await tx.bulkAction.count({ where: { project_id, completed_at: null } });
    if (underWay >= MOST_UNDER_WAY)
      throw new AppError("CONFLICT", `${MOST_UNDER_WAY} such actions are under way in this project. Wait until one of them is done.`);
    const completed_at = count === 0 ? new Date() : null;
    await tx.bulkAction.create({
      data: { id, project_id, user_id: principal.user.id, action, use_current, execution_ids, count, completed_at },
    });
    const named = input.filter ? { filter: input.filter } : { ids: input.ids?.length ?? 0 };
    const detail = { count, ...named, ...(use_current && { use_current }) };
    await recordAudit(tx, principal, { action: `execution.bulk_${action}`, ...resourceOf({ id, count }), detail });
  });
  if (count > 0) await publishEvents([bulkAsked.create({ bulk_id: id, project_id }, { id: `${id}-bulk` })]);
  return { id, count };
}

const toDto = ({ id, action, count, done, succeeded, skipped, error, created_at, completed_at }: Row): BulkAction => ({
  ...{ id, action: BulkKind.parse(action), count, done, succeeded, skipped, failed: done - succeeded - skipped, error },
  created_at: created_at.toISOString(),
  completed_at: completed_at?.toISOString() ?? null,
});

/**
 * How far it is with something that is done with many executions.
 * @throws AppError NOT_FOUND
 */
export async function getBulk({ project }: ProjectPrincipal, { bulk_id }: z.infer<typeof BulkRef>): Promise<BulkAction> {
  const row = isUuid(bulk_id) ? await db().bulkAction.findFirst({ where: { id: bulk_id, project_id: project.id } }) : null;
  if (!row) throw notFound("bulk action");
  return toDto(row);
}

/**
 * Ends something that is done with many executions before all of them were dealt with; what was done stays done, and one that is over
 * stays as it is.
 * @throws AppError NOT_FOUND; PERMISSION_DENIED for a key without the scope `read`
 */
export async function stopBulk(principal: ProjectPrincipal, ref: z.infer<typeof BulkRef>): Promise<BulkAction> {
  assertSeesRuns(principal);
  const { id, count, done } = await getBulk(principal, ref);
  await db().$transaction(async (tx) => {
    const data = { completed_at: new Date(), execution_ids: [] };
    const { count: stopped } = await tx.bulkAction.updateMany({ where: { id, completed_at: null }, data });
    if (stopped) await recordAudit(tx, principal, { action: "execution.stop_bulk", ...resourceOf({ id, count }), detail: { done } });
  });
  return getBulk(principal, ref);
}
