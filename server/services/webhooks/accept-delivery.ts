import { cleanText, parseCleanJson } from "#server/clean-text.ts";
import { db } from "#server/db/client.ts";
import { parseJson } from "#server/engine/json-text.ts";
import { AppError, ERRORS, isAppError } from "#server/errors.ts";
import { newId } from "#server/new-id.ts";
import type { ExecuteResult } from "#server/schemas/execution.ts";
import { acceptRun } from "#server/services/executions/accept-run.ts";
import { assertRunnable } from "#server/services/executions/assert-runnable.ts";
import { hourUsedUp } from "#server/services/executions/start-execution.ts";
import { assertRoom } from "#server/services/projects/assert-room.ts";
import { asText, atPath } from "#server/services/webhooks/payload-path.ts";
import type { SavedWorkflow } from "#server/services/workflows/saved-workflow.ts";

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
function triggerText(workflow: SavedWorkflow, body: Uint8Array): string {
  const { payload_path } = workflow.trigger;
  const payload = payloadOf(body);
  const refuse = (message: string) => new AppError("VALIDATION_ERROR", message, { errors: [{ path: "body", message }] });
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
