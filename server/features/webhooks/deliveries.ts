import type { ReplayDeliveryInput } from "#server/features/webhooks/schema.ts";
import { assertRunnable } from "#server/features/workflows/execute.ts";
import { type SavedWorkflow, savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { cleanText, parseCleanJson } from "#server/platform/clean-text.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { AppError, ERRORS, invalidField, isAppError, notFound } from "#server/platform/errors.ts";
import { asText, atPath } from "#server/platform/json-path.ts";
import { isUuid, newId } from "#server/platform/new-id.ts";
import type { ExecuteResult } from "#server/runs/schema.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { acceptRun } from "#server/runs/use-cases/inline-run.ts";
import { hourUsedUp } from "#server/runs/use-cases/start-execution.ts";
import { parseJson } from "#server/shared/json-text.ts";

/** Whether a delivery's body was kept, and whole. */
export const canReplay = (body: string | null): boolean => body !== null && body.length <= KEPT_CHARACTERS;

/** How many characters of a body are kept; a longer one is cut and cannot be replayed. */
export const KEPT_CHARACTERS = 65_536;

export interface Delivery {
  body: Uint8Array;
  /** Tells it from others of its workflow; null when the sender does not say. */
  key: string | null;
  /** Who replays it; null for a sender. */
  started_by_id: string | null;
}

function keptBody(body: Uint8Array): string {
  const text = cleanText(new TextDecoder().decode(body));
  return text.length > KEPT_CHARACTERS ? `${cleanText(text.slice(0, KEPT_CHARACTERS))}…` : text;
}

function payloadOf(body: Uint8Array): unknown {
  try {
    return parseCleanJson(new TextDecoder("utf-8", { fatal: true }).decode(body), parseJson);
  } catch (cause) {
    throw new AppError("BAD_REQUEST", "The body is not valid JSON. Send one JSON value in UTF-8.", { cause });
  }
}

/** What the trigger gives: the payload, or the part of it that the trigger's path leads to. */
export function triggerText(workflow: SavedWorkflow, body: Uint8Array): string {
  const { payload_path } = workflow.trigger;
  const payload = payloadOf(body);
  const refuse = (message: string) => invalidField("body", message);
  let part: unknown;
  try {
    part = atPath(payload, payload_path);
  } catch {
    throw refuse(
      `The path ${payload_path} is too much work in this payload, or that is nested too deeply. Write a simpler path into the trigger.`,
    );
  }
  if (part === undefined) throw refuse(`The payload has nothing at ${payload_path}, which this workflow's trigger reads. Send that field.`);
  return asText(part);
}

/** The execution that the first delivery with this key started, if there was one. */
async function firstWith(workflow_id: string, key: string | null): Promise<string | undefined> {
  if (key === null) return undefined;
  const row = await db().webhookDelivery.findUnique({
    where: { workflow_id_delivery_key: { workflow_id, delivery_key: key } },
    select: { execution_id: true },
  });
  return row?.execution_id ?? undefined;
}

/** Writes down one that started nothing. It holds no key: the sender may repeat it once the reason is gone. */
async function record(
  workflow_id: string,
  body: Uint8Array,
  answer: { status: number; error?: string; execution_id?: string },
): Promise<void> {
  await db().webhookDelivery.create({ data: { workflow_id, body: keptBody(body), ...answer } });
}

async function start(workflow: SavedWorkflow, { body, key, started_by_id }: Delivery): Promise<string | undefined> {
  const input = triggerText(workflow, body);
  const names = await assertRunnable(workflow.project_id, workflow.graph, workflow.agents);
  const { project_id, id: workflow_id, snapshot_id, version: workflow_version, graph } = workflow;
  const of = { project_id, workflow_id, workflow_version, snapshot_id, graph, names };
  const started = await acceptRun(
    { ...of, trigger: "webhook", started_by_id, input, params: null, status: "queued" },
    { id: newId(), delivery_key: key, body: keptBody(body) },
  );
  if (started.kind === "limited") throw hourUsedUp(started);
  if (started.kind === "repeated") return undefined;
  return started.execution_id;
}

function assertListening({ enabled, trigger }: SavedWorkflow): void {
  if (!enabled) throw new AppError("CONFLICT", "This workflow is disabled. Enable it, then send again.");
  if (trigger.kind !== "webhook") throw new AppError("VALIDATION_ERROR", "This workflow no longer starts by a webhook.");
}

/**
 * Starts a run of the saved version for a delivery that may be trusted, and writes down what arrived and what came of it.
 * A key that was accepted before gives the first execution again, whatever the body.
 * @throws AppError CONFLICT for a disabled workflow and a project that holds as much as it may; BAD_REQUEST for what is no JSON; VALIDATION_ERROR when the path leads
 *   nowhere or the graph has problems; RATE_LIMIT_EXCEEDED when the project has used up its hour
 */
export async function acceptDelivery(workflow: SavedWorkflow, delivery: Delivery): Promise<ExecuteResult> {
  const { body, key } = delivery;
  let refusal: AppError | undefined;
  try {
    assertListening(workflow);
    await assertRoom(workflow.project_id);
    const execution_id = await start(workflow, delivery);
    if (execution_id) return { execution_id, status: "queued" };
  } catch (error) {
    if (!isAppError(error)) throw error;
    refusal = error;
  }
  const first = workflow.enabled ? await firstWith(workflow.id, key) : undefined;
  if (first) {
    await record(workflow.id, body, { status: 202, execution_id: first });
    return { execution_id: first, status: "queued" };
  }
  const error = refusal ?? new AppError("CONFLICT", "Another delivery with this id is being taken in. Send it again.");
  await record(workflow.id, body, { status: ERRORS[error.code].status, error: error.message });
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
  return acceptDelivery(workflow, { body: Buffer.from(body), key: null, started_by_id: user.id });
}

/** How many deliveries a workflow keeps with their bodies. */
const KEPT = 100;
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
