import type pg from "pg";
import { inTransaction } from "#server/platform/db/client.ts";
import { newId } from "#server/platform/new-id.ts";
import { failure } from "#server/runs/ports.ts";
import { createExecution, type DeliveryOfExecution, isTakenId, type NewExecution, type Started } from "#server/runs/store/create.ts";
import { deleteTheseExecutions } from "#server/runs/store/delete-executions.ts";
import { storageQuota, storedBytes } from "#server/runs/store/space.ts";
import { projectLock } from "#server/runs/store/sql.ts";

// A delivery or schedule fire that could not start a run is an execution that failed before it began: `started_at` is null.

/** Executions that refused starts may leave per workflow and clock hour. */
export const MAX_REFUSED_ROWS = 100;
/** Bytes of input that they may keep per project and clock hour. */
const MAX_REFUSED_BYTES = 16 * 1024 * 1024;
/** The same in a project that is over its storage quota. */
const MAX_REFUSED_BYTES_WHEN_FULL = 1024 * 1024;

/** Condition on an execution `e` that never started. */
export const NEVER_STARTED = "(e.status = 'failed' AND e.started_at IS NULL)";

// Locks the counter of the hour until the transaction ends, so that concurrent refusals cannot exceed the bounds together.
const COUNT = {
  name: "refused-start-count",
  text: `
    WITH purged AS (
      DELETE FROM refused_starts WHERE workflow_id = $1::uuid AND hour < now() - interval '1 day'
    )
    INSERT INTO refused_starts AS r (workflow_id, hour, project_id, count, rows, bytes)
    VALUES ($1::uuid, date_trunc('hour', now()), $2::uuid, 1, 0, 0)
    ON CONFLICT (workflow_id, hour) DO UPDATE SET count = r.count + 1
    RETURNING r.rows, (
      SELECT coalesce(sum(p.bytes), 0)::float8 FROM refused_starts p
      WHERE p.project_id = $2::uuid AND p.hour = date_trunc('hour', now())
    ) AS bytes`,
};
const KEEP = {
  name: "refused-start-keep",
  text: `
    UPDATE refused_starts SET rows = rows + 1, bytes = bytes + $2
    WHERE workflow_id = $1::uuid AND hour = date_trunc('hour', now())`,
};

/**
 * Writes an execution that fails with this reason before it starts. It does not count toward the hourly limit. Past
 * MAX_REFUSED_ROWS, or without room for its input, it is only counted.
 * @param client within a transaction
 * @param run an earlier execution with the same `due_at` or delivery key stays as it is
 * @returns the id of the execution; undefined when it was only counted, or there is an earlier one
 */
export async function refuseRun(
  client: pg.PoolClient,
  run: NewExecution,
  reason: string,
  delivery?: DeliveryOfExecution,
): Promise<string | undefined> {
  const { rows } = await client.query<{ rows: number; bytes: number }>({ ...COUNT, values: [run.workflow_id, run.project_id] });
  const used = rows[0] ?? { rows: 0, bytes: 0 };
  const isFull = (await storedBytes(run.project_id, client)) > storageQuota();
  const size = [run.input, JSON.stringify(run.params), delivery?.body ?? ""].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const limit = isFull ? MAX_REFUSED_BYTES_WHEN_FULL : MAX_REFUSED_BYTES;
  if (used.rows >= MAX_REFUSED_ROWS || used.bytes + size > limit) return undefined;

  await client.query({ ...KEEP, values: [run.workflow_id, size] });
  const id = run.id ?? newId();
  const now = new Date();
  const begun = { run: { id, holder: null, created_at: now }, first: failure(reason, now, now) };
  const written = await createExecution({ ...run, id, isCounted: false }, { on: client, begun, delivery });
  return written.kind === "started" ? written.execution_id : undefined;
}

/** Undoes a transaction that has nothing to write. */
class Unchanged extends Error {
  readonly started: Started | undefined;

  constructor(started?: Started) {
    super("Nothing was written.");
    this.started = started;
  }
}

/**
 * Like `refuseRun`, in a transaction of its own. Repeating a delivery, or a request with an Idempotency-Key, counts once.
 */
export async function recordRefusedRun(run: NewExecution, reason: string, delivery?: DeliveryOfExecution): Promise<string | undefined> {
  const isRepeated = async (client: pg.PoolClient) => {
    const { rows } = await client.query(
      `SELECT FROM webhook_deliveries WHERE workflow_id = $1::uuid AND delivery_key = $2
       UNION ALL SELECT FROM executions WHERE id = $3::uuid`,
      [run.workflow_id, delivery?.delivery_key ?? null, run.id ?? null],
    );
    return rows.length > 0;
  };
  try {
    return await inTransaction(async (client) => {
      await client.query(`SELECT ${projectLock("$1::uuid")}`, [run.project_id]);
      if (await isRepeated(client)) return undefined;
      return refuseRun(client, run, reason, delivery);
    });
  } catch (error) {
    if (isTakenId(error)) return undefined;
    throw error;
  }
}

/** Names a refused execution: by its own id, or by the key of its delivery. */
type RefusedRef = { id: string } | { delivery: DeliveryOfExecution };

const BY_ID = `SELECT e.id FROM executions e WHERE e.id = $1::uuid AND e.workflow_id = $2::uuid AND ${NEVER_STARTED} FOR UPDATE`;
const BY_KEY = `
  DELETE FROM webhook_deliveries WHERE delivery_key = $1 AND workflow_id = $2::uuid AND status <> 202 AND execution_id IS NOT NULL
  RETURNING execution_id AS id`;

/**
 * Starts a refused execution: under its id, with what its delivery brings now. The project's lock makes deliveries with the same
 * key take turns, so that one of them starts it and the others find it started.
 * @returns undefined when there is no such execution, or it has been started
 */
export async function startRefusedRun(run: NewExecution, ref: RefusedRef): Promise<Started | undefined> {
  const delivery = "delivery" in ref ? ref.delivery : undefined;
  const find = "id" in ref ? { text: BY_ID, value: ref.id } : { text: BY_KEY, value: ref.delivery.delivery_key };
  try {
    return await inTransaction(async (client) => {
      await client.query(`SELECT ${projectLock("$1::uuid")}`, [run.project_id]);
      const { rows } = await client.query<{ id: string }>(find.text, [find.value, run.workflow_id]);
      const id = rows[0]?.id;
      if (id === undefined) throw new Unchanged();

      await deleteTheseExecutions(client, run.project_id, [id]);
      const started = await createExecution({ ...run, id }, { on: client, delivery });
      if (started.kind !== "started") throw new Unchanged(started);
      return started;
    });
  } catch (error) {
    if (error instanceof Unchanged) return error.started;
    throw error;
  }
}
