import { bulkAsked } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { startRerun } from "#server/features/executions/rerun-execution.ts";
import { BulkKind } from "#server/features/executions/schema.ts";
import { memberOf } from "#server/features/projects/members.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, inTransaction } from "#server/platform/db/client.ts";
import { queryIn, type Tx } from "#server/platform/db/tx.ts";
import { isAppError, isDatabaseAway } from "#server/platform/errors.ts";
import { deleteTheseExecutions } from "#server/runs/store/delete-executions.ts";
import { cancelRun } from "#server/runs/store/end.ts";
import { executionStatus } from "#server/runs/store/executions.ts";
import { cancelChildren, tellParent } from "#server/runs/use-cases/end-children.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// The job behind bulk.ts. What is done to a run and that it is done are one transaction, so whoever goes on after a crash, or beside
// another, does nothing twice.

/** How long one turn may take, in milliseconds. */
const TURN_MS = 10_000;
/** How many executions are deleted in one transaction. */
const DELETED_AT_ONCE = 100;
/** After this time without progress it is asked for again, in milliseconds; one that waits for room is asked for in vain. */
const LOST_MS = 120_000;
/** How long one that is done can still be read, in milliseconds. */
const KEPT_MS = 30 * 86_400_000;
/** The longest sleep until there is room in the project's hour, in milliseconds. */
const LONGEST_WAIT_MS = 15 * 60_000;

/** Another process has dealt with this one meanwhile. */
class Overtaken extends Error {}

interface Bulk {
  id: string;
  project_id: string;
  user_id: string;
  action: BulkKind;
  use_current: boolean;
  execution_ids: string[];
  done: number;
}

type Outcome = "succeeded" | "skipped" | "failed";

/**
 * Takes note that the next `count` were dealt with.
 * @throws Overtaken when they have been
 */
async function note(tx: Tx, bulk: Bulk, outcome: Outcome, count = 1, error: string | null = null): Promise<void> {
  const rows = await queryIn(
    tx,
    `UPDATE bulk_actions SET done = done + $3::int, succeeded = succeeded + $4::int, skipped = skipped + $5::int, error = coalesce(error, $6), worked_at = now()
     WHERE id = $1::uuid AND done = $2::int AND completed_at IS NULL
     RETURNING id`,
    [bulk.id, bulk.done, count, outcome === "succeeded" ? count : 0, outcome === "skipped" ? count : 0, error],
  );
  if (rows.length === 0) throw new Overtaken();
}

async function cancelOne(bulk: Bulk, execution_id: string): Promise<Outcome> {
  const outcome = await db().$transaction(async (tx) => {
    const run = await cancelRun(tx, { project_id: bulk.project_id, execution_id });
    const found = run && !isFinal(run.was) ? "succeeded" : "skipped";
    await note(tx, bulk, found);
    return found;
  });
  if (outcome === "succeeded") {
    dispatchCancels([execution_id]);
    await tellParent(execution_id);
    await cancelChildren(execution_id);
  }
  return outcome;
}

async function rerunOne(bulk: Bulk, principal: ProjectPrincipal, execution_id: string): Promise<void> {
  if (!isFinal(await executionStatus(execution_id))) return inTransaction((client) => note(client, bulk, "skipped"));
  await startRerun(
    principal,
    { execution_id, use_current: bulk.use_current },
    { isCounted: true, also: (client) => note(client, bulk, "succeeded") },
  );
}

/** Deletes the next ones, as many as go in one transaction. @returns how many were dealt with */
async function deleteSome(bulk: Bulk): Promise<number> {
  const ids = bulk.execution_ids.slice(bulk.done, bulk.done + DELETED_AT_ONCE);
  await inTransaction(async (client) => {
    const deleted = await deleteTheseExecutions(client, bulk.project_id, ids);
    await note(client, bulk, "succeeded", deleted);
    await note(client, { ...bulk, done: bulk.done + deleted }, "skipped", ids.length - deleted);
  });
  return ids.length;
}

/** Deals with the next one. @returns with how many, and how long to wait for room before it can be, in milliseconds */
async function next(bulk: Bulk, principal: ProjectPrincipal): Promise<{ done: number; waitMs: number }> {
  const execution_id = bulk.execution_ids[bulk.done] ?? "";
  try {
    if (bulk.action === "delete") return { done: await deleteSome(bulk), waitMs: 0 };
    if (bulk.action === "cancel") await cancelOne(bulk, execution_id);
    else await rerunOne(bulk, principal, execution_id);
  } catch (error) {
    if (!isAppError(error) || isDatabaseAway(error)) throw error;
    if (error.code === "RATE_LIMIT_EXCEEDED")
      return { done: 0, waitMs: Math.min(LONGEST_WAIT_MS, 1000 * Math.max(1, error.retryAfter ?? 60)) };
    const isNothing = error.code === "NOT_FOUND";
    await inTransaction((client) => note(client, bulk, isNothing ? "skipped" : "failed", 1, isNothing ? null : error.message));
  }
  return { done: 1, waitMs: 0 };
}

/** Ends it; what was not dealt with counts as failed. */
async function end(id: string, error: string | null): Promise<void> {
  await inTransaction((client) =>
    client.query(
      `UPDATE bulk_actions SET completed_at = now(), done = count, error = coalesce(error, $2), execution_ids = '{}' WHERE id = $1 AND completed_at IS NULL`,
      [id, error],
    ),
  );
}

/**
 * One turn of work, of ten seconds at most.
 * @returns whether it is over, and how long to wait before the next turn, in milliseconds
 */
export async function workOnBulk(bulk_id: string): Promise<{ isOver: boolean; waitMs: number }> {
  const row = await db().bulkAction.findFirst({
    where: { id: bulk_id, completed_at: null, project: { deleted_at: null } },
    include: { user: { select: { id: true, email: true, name: true } } },
  });
  if (!row) return { isOver: true, waitMs: 0 };
  const { user, ...stored } = row;
  const bulk = { ...stored, action: BulkKind.parse(stored.action) };
  const until = performance.now() + TURN_MS;
  try {
    // In the name of who asked, and while that one may.
    const principal = await memberOf({ user, auth: { type: "session" } }, bulk.project_id, "editor");
    while (bulk.done < bulk.execution_ids.length) {
      if (performance.now() >= until) return { isOver: false, waitMs: 0 };
      const { done, waitMs } = await next(bulk, principal);
      if (waitMs > 0) {
        await db().bulkAction.updateMany({
          where: { id: bulk.id, completed_at: null },
          data: { worked_at: new Date(Date.now() + waitMs) },
        });
        return { isOver: false, waitMs };
      }
      bulk.done += done;
    }
    await end(bulk.id, null);
  } catch (error) {
    // Whoever is ahead goes on.
    if (error instanceof Overtaken) return { isOver: true, waitMs: 0 };
    if (!isAppError(error) || isDatabaseAway(error)) throw error;
    await end(bulk.id, `It stopped, because who asked for it may not do it any more: ${error.message}`);
  }
  return { isOver: true, waitMs: 0 };
}

/** Ends what broke off for good. */
export const failBulk = (bulk_id: string): Promise<void> =>
  end(bulk_id, "It was interrupted by an internal error of the server. Start the bulk action again for the rest.");

/** Asks again for what got lost, and forgets what was done long ago. */
export async function resumeBulk(now = Date.now()): Promise<void> {
  await db().bulkAction.deleteMany({ where: { completed_at: { lt: new Date(now - KEPT_MS) } } });
  const lost = await db().bulkAction.findMany({
    where: { completed_at: null, worked_at: { lt: new Date(now - LOST_MS) } },
    select: { id: true, project_id: true },
    take: 100,
  });
  await publishEvents(
    lost.map(({ id, project_id }) => bulkAsked.create({ bulk_id: id, project_id }, { id: `${id}-bulk-${Math.floor(now / 60_000)}` })),
  );
}
