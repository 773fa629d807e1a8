import { LRUCache } from "lru-cache";
import type { ReplayDeliveryInput } from "#server/features/webhooks/schema.ts";
import { assertRunnable } from "#server/features/workflows/execute.ts";
import { passedOn } from "#server/features/workflows/payload.ts";
import { type SavedWorkflow, savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { AppError, ERRORS, isAppError, notFound } from "#server/platform/errors.ts";
import type { RequestContent } from "#server/platform/net/request-content.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import type { ExecuteResult } from "#server/runs/schema.ts";
import type { NewExecution, Started } from "#server/runs/store/create.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { recordRefusedRun, startRefusedRun } from "#server/runs/store/refused-runs.ts";
import { noteStored } from "#server/runs/store/space.ts";
import { acceptRun } from "#server/runs/use-cases/inline-run.ts";
import { hourUsedUp } from "#server/runs/use-cases/start-execution.ts";
import { dispatchRuns } from "#server/runs/worker/dispatch.ts";

/** Whether a delivery's body was kept, and whole. */
export const canReplay = (body: string | null): boolean => body !== null && body.length <= KEPT_CHARACTERS;

/** How many characters of a body are kept; a longer one is cut and cannot be replayed. */
export const KEPT_CHARACTERS = 65_536;

export interface Delivery {
  /** Its body, or the reason for which that cannot be read. */
  content: RequestContent | AppError;
  /** Text for the list of deliveries where the body cannot be read. */
  sent: string;
  /** Headers that expressions can read. */
  headers: Record<string, string | string[]>;
  /** Tells it from others of its workflow; null when the sender does not say. */
  key: string | null;
  /** Who replays it; null for a sender. */
  started_by_id: string | null;
}

function keptBody({ content, sent }: Delivery): string {
  const text = cleanText(content instanceof AppError ? sent : content.json);
  return text.length > KEPT_CHARACTERS ? `${cleanText(text.slice(0, KEPT_CHARACTERS))}…` : text;
}

/** The text that the trigger passes on: the payload, or the part of it at the trigger's path. */
export function triggerText({ trigger }: SavedWorkflow, content: Delivery["content"]): string {
  if (content instanceof AppError) throw content;
  return passedOn(trigger.payload_path, content.json, "body");
}

/** Like `triggerText`; null for a body that the trigger cannot read. */
export function triggerTextIfAny(workflow: SavedWorkflow, content: Delivery["content"]): string | null {
  try {
    return triggerText(workflow, content);
  } catch {
    return null;
  }
}

/** The execution that the first delivery with this key started, if there is one. */
async function firstStarted(workflow_id: string, key: string | null): Promise<string | undefined> {
  if (key === null) return undefined;
  const row = await db().webhookDelivery.findUnique({
    where: { workflow_id_delivery_key: { workflow_id, delivery_key: key }, status: 202 },
    select: { execution_id: true },
  });
  return row?.execution_id ?? undefined;
}

/** Number of deliveries that a workflow keeps with their bodies. */
const KEPT = 100;
/** Entries added by this process between two deletions of a workflow's oldest. */
const TRIM_EVERY = 20;
const untrimmed = new LRUCache<string, number>({ max: 10_000 });
const TRIM = `
  DELETE FROM webhook_deliveries
  WHERE workflow_id = $1
    AND delivery_key IS NULL
    AND id < (SELECT id FROM webhook_deliveries WHERE workflow_id = $1 ORDER BY id DESC OFFSET ${KEPT - 1} LIMIT 1)`;

/** Adds an entry without a key to the trigger's list of deliveries. */
async function record(
  { id: workflow_id, project_id }: SavedWorkflow,
  delivery: Delivery,
  answer: { status: number; error?: string; execution_id?: string },
): Promise<void> {
  const text = keptBody(delivery);
  await db().webhookDelivery.create({ data: { workflow_id, body: text, ...answer } });
  noteStored(project_id, "runs", text.length);

  // Without authentication anybody can send what is refused: the hourly job alone would leave the list unbounded until then.
  const count = (untrimmed.get(workflow_id) ?? 0) + 1;
  untrimmed.set(workflow_id, count % TRIM_EVERY);
  if (count === TRIM_EVERY) await pool().query(TRIM, [workflow_id]);
}

/** The run that a delivery asks for. */
function runOf(workflow: SavedWorkflow, { content, headers, started_by_id }: Delivery, input: string): NewExecution {
  const { json, raw } = content instanceof AppError ? { json: "", raw: undefined } : content;
  const sent = cleanText(raw ?? json);
  const params = { headers, ...(sent !== input && { raw: sent }) };

  const { project_id, id: workflow_id, snapshot_id, version: workflow_version, graph } = workflow;
  const of = { project_id, workflow_id, workflow_version, snapshot_id, graph };
  return { ...of, trigger: "webhook", started_by_id, input, params, status: "queued" };
}

function assertListening({ enabled, trigger }: SavedWorkflow): void {
  if (!enabled) throw new AppError("CONFLICT", "This workflow is disabled. Enable it, then send again.");
  if (trigger.kind !== "webhook") throw new AppError("VALIDATION_ERROR", "This workflow no longer starts by a webhook.");
}

/** Starts the run of a delivery. Returns undefined when an earlier delivery with the same key has started it. */
async function start(workflow: SavedWorkflow, delivery: Delivery): Promise<string | undefined> {
  const { project_id, graph, agents } = workflow;
  assertListening(workflow);
  await assertRoom(project_id);
  const run = runOf(workflow, delivery, triggerText(workflow, delivery.content));
  const names = await assertRunnable(project_id, graph, agents);
  const row = { id: newId(), delivery_key: delivery.key, body: keptBody(delivery) };

  let started: Started | undefined = await acceptRun({ ...run, names }, row);
  if (started.kind === "repeated") {
    started = await startRefusedRun(run, { delivery: row });
    if (started?.kind === "started") await dispatchRuns([{ execution_id: started.execution_id, project_id, dispatch: 0 }]);
  }
  if (started?.kind === "limited") throw hourUsedUp(started);
  return started?.kind === "started" ? started.execution_id : undefined;
}

/**
 * Leaves a failed execution for a delivery that could not start a run, so that it can be run again. Ignores what can never start
 * one (an unreadable body, a payload without the part that the trigger reads) and replays, whose user sees the error.
 * @returns undefined when it left none
 */
async function leaveRefused(workflow: SavedWorkflow, delivery: Delivery, error: string, status: number): Promise<string | undefined> {
  if (delivery.started_by_id !== null) return undefined;
  const input = triggerTextIfAny(workflow, delivery.content);
  if (input === null) return undefined;
  const row = { id: newId(), delivery_key: delivery.key, body: keptBody(delivery), refusal: { status, error } };
  return recordRefusedRun(runOf(workflow, delivery, input), error, row);
}

/**
 * Starts a run of the saved version for a delivery whose sender is verified, and adds it to the trigger's list of deliveries.
 * A key that was accepted before returns the first execution again, whatever the body. A delivery that cannot start a run leaves
 * a failed execution, which a later delivery with the same key starts.
 * @throws AppError CONFLICT for a disabled workflow and a project over its storage quota; BAD_REQUEST for a body that cannot be read;
 *   UNSUPPORTED_MEDIA_TYPE for an unknown charset or encoding;
 *   VALIDATION_ERROR when the path leads nowhere or the graph has problems; RATE_LIMIT_EXCEEDED when the hourly limit is reached
 */
export async function acceptDelivery(workflow: SavedWorkflow, delivery: Delivery): Promise<ExecuteResult> {
  const { key } = delivery;
  let refusal: AppError | undefined;
  try {
    const execution_id = await start(workflow, delivery);
    if (execution_id) return { execution_id, status: "queued" };
  } catch (error) {
    // Without its workflow it can neither be listed nor run again.
    if (!isAppError(error) || error.code === "NOT_FOUND") throw error;
    refusal = error;
  }
  const first = workflow.enabled ? await firstStarted(workflow.id, key) : undefined;
  if (first) {
    await record(workflow, delivery, { status: 202, execution_id: first });
    return { execution_id: first, status: "queued" };
  }
  const error = refusal ?? new AppError("CONFLICT", "Another delivery with this id is being processed. Send it again.");
  const { status } = ERRORS[error.code];
  const left = refusal && (await leaveRefused(workflow, delivery, error.message, status));
  if (!left) await record(workflow, delivery, { status, error: error.message });
  throw error;
}

/**
 * Runs the body of an earlier delivery again, as a new delivery to the version that is saved now.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when its body was not kept whole; then what `acceptDelivery` throws
 */
export async function replayDelivery({ project, user }: ProjectPrincipal, { delivery_id }: ReplayDeliveryInput): Promise<ExecuteResult> {
  if (!isUuid(delivery_id)) throw notFound("delivery");
  const delivery = await db().webhookDelivery.findFirst({
    where: { id: delivery_id, webhook: { workflow: { project_id: project.id, deleted_at: null } } },
    select: { workflow_id: true, body: true },
  });
  const workflow = delivery && (await savedWorkflow(delivery.workflow_id));
  if (!workflow) throw notFound("delivery");
  const { body } = delivery;
  if (body === null || !canReplay(body))
    throw new AppError("VALIDATION_ERROR", "The body of this delivery was not kept whole, so it cannot be sent again from here.");
  return acceptDelivery(workflow, { content: { json: body, raw: body }, sent: body, headers: {}, key: null, started_by_id: user.id });
}

/** How long a sender's delivery id is remembered at least, in days: senders repeat for some days. */
const REMEMBERED_DAYS = 7;

/**
 * Keeps the newest 100 deliveries of each workflow. Of older ones only those stay whose id a sender may still repeat,
 * without their bodies.
 */
export async function tidyDeliveries(): Promise<void> {
  await pool().query(
    `WITH ranked AS (
       SELECT id, row_number() OVER (PARTITION BY workflow_id ORDER BY id DESC) > ${KEPT} AS is_old FROM webhook_deliveries
     ), emptied AS (
       UPDATE webhook_deliveries d SET body = NULL FROM ranked
       WHERE ranked.id = d.id AND is_old AND body IS NOT NULL AND delivery_key IS NOT NULL AND received_at >= now() - interval '${REMEMBERED_DAYS} days'
     )
     DELETE FROM webhook_deliveries d USING ranked
     WHERE ranked.id = d.id AND is_old AND (delivery_key IS NULL OR received_at < now() - interval '${REMEMBERED_DAYS} days')`,
  );
}
