import { Prisma } from "#prisma/generated/client.ts";
import type { WaitReason } from "#prisma/generated/enums.ts";
import { parseCleanJson } from "#server/platform/clean-text.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { finalStatuses } from "#server/runs/schema.ts";
import { tokenHash, waitOfToken } from "#server/runs/waits/callback-token.ts";
import { expireWaits, wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

/** How long what a callback brings may be, in characters of JSON. */
const MAX_PAYLOAD = 1_000_000;

/** Who decided a review, and which way they came; nobody in particular resolves another wait. */
interface Resolver {
  via: string;
  id: string | null;
  email: string;
  name: string;
  role: Role | null;
}

interface Resolution {
  id: string;
  reason: WaitReason;
  outcome: Prisma.InputJsonValue;
  /** Of a callback, in hexadecimal. */
  token_hash?: string;
  by?: Resolver;
}

interface ResolvedWait {
  id: string;
  project_id: string;
  execution_id: string;
  node_id: string;
  iteration: string;
  label: string;
}

/**
 * Resolves a wait: one conditional update, so of any that come at once, and of these and the deadline, one counts. Tells the
 * segment that carries the run, and marks what people were told of it as read; call `wakeEnded` once it is committed.
 * @returns undefined when it has ended already, its run is over, or there is no such wait
 */
export async function resolveWait(
  within: Pick<Prisma.TransactionClient, "$queryRaw">,
  { id, reason, outcome, token_hash, by }: Resolution,
): Promise<ResolvedWait | undefined> {
  const [wait] = await within.$queryRaw<ResolvedWait[]>`
    WITH resolved AS (
      UPDATE waits w SET status = 'resolved', outcome = ${JSON.stringify(outcome)}::jsonb, resolved_at = now(), via = ${by?.via ?? null},
        reviewer_id = ${by?.id ?? null}::uuid, reviewer_email = ${by?.email ?? null}, reviewer_name = ${by?.name ?? null},
        reviewer_role = ${by?.role ?? null}::"Role"
      FROM executions e
      WHERE w.id = ${id}::uuid AND w.reason = ${reason}::"WaitReason" AND w.status = 'waiting' AND (w.deadline IS NULL OR w.deadline > now())
        AND w.token_hash IS NOT DISTINCT FROM decode(${token_hash ?? null}, 'hex')
        AND e.id = w.execution_id AND e.status::text NOT IN (${Prisma.join([...finalStatuses])})
      RETURNING w.id, w.project_id, w.execution_id, w.node_id, w.iteration, w.label
    ), seen AS (
      UPDATE notifications SET read_at = now() WHERE kind = 'review' AND subject_id IN (SELECT id FROM resolved) AND read_at IS NULL
    ), told AS MATERIALIZED (
      SELECT *, pg_notify('treadle_control', execution_id::text) FROM resolved
    )
    SELECT id, project_id, execution_id, node_id, iteration, label FROM told`;
  return wait;
}

/**
 * Resolves the callback that a token is for; the token is the authority, and counts once.
 * @param payload JSON of the caller, which the waiting node gets
 * @throws AppError PAYLOAD_TOO_LARGE; VALIDATION_ERROR for JSON that is nested too deeply; NOT_FOUND for a token that is not
 *   valid; CONFLICT when it was used, came too late, or its run has ended
 */
export async function resolveCallback(token: string, payload: string): Promise<void> {
  if (payload.length > MAX_PAYLOAD)
    throw new AppError("PAYLOAD_TOO_LARGE", `A callback may bring ${MAX_PAYLOAD} characters of JSON at most.`);
  const id = waitOfToken(token);
  if (id === null) throw unknownToken();
  const token_hash = tokenHash(token);
  const wait = await resolveWait(db(), { id, reason: "callback", outcome: cleanPayload(payload), token_hash });
  if (!wait) throw await tooLate(id, token_hash);
  await wakeEnded([wait]);
}

function cleanPayload(payload: string): Prisma.InputJsonValue {
  try {
    return parseCleanJson(payload) as Prisma.InputJsonValue; // cast: it is JSON
  } catch (cause) {
    throw new AppError("VALIDATION_ERROR", "A callback brings JSON, and none that is nested too deeply.", { cause });
  }
}

const unknownToken = () => new AppError("NOT_FOUND", "No run waits for this token. Check that it was copied whole.");

/** Why a callback could not be resolved. One that is due expires now, so that the answer is the truth. */
async function tooLate(id: string, token_hash: string): Promise<AppError> {
  await expireWaits(id);
  const row = await db().wait.findFirst({ where: { id, token_hash: Buffer.from(token_hash, "hex") }, select: { status: true } });
  if (!row) return unknownToken();
  return new AppError(
    "CONFLICT",
    row.status === "resolved" ? "This token was used already." : "Its run does not wait for this token any more.",
  );
}
