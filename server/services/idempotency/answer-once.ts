import { AppError } from "#server/errors.ts";
import { log } from "#server/log.ts";
import { type Answer, claimKey, HOLD_SECONDS, type KeyedRequest } from "#server/services/idempotency/claim-key.ts";
import { withRunId } from "#server/services/idempotency/run-id.ts";
import { freeKey, keepAnswer, renewHold } from "#server/services/idempotency/settle-key.ts";

/** Trying again may end otherwise after these: who asks, how much was asked, or the service itself was the reason. */
const isKept = ({ status }: Answer): boolean => status < 500 && status !== 401 && status !== 403 && status !== 429;

const unsettled = (err: unknown) => log.warn({ err }, "an Idempotency-Key was not settled, it is free again in half a minute");

/**
 * Carries a request out once for its key, within 24 hours: whoever repeats it gets the same answer. A try that fails by
 * the service's fault, or dies, leaves the key to the next one.
 * @throws AppError CONFLICT when the key was used for another request, or the first one is still under way
 */
export async function answerOnce(request: KeyedRequest, work: () => Promise<Answer>): Promise<Answer & { isReplayed: boolean }> {
  const claim = await claimKey(request);
  if (claim.kind === "answered") return { ...claim.answer, isReplayed: true };
  if (claim.kind === "other_request")
    throw new AppError("CONFLICT", "This Idempotency-Key was used for another request. Send a new key with each new request.");
  if (claim.kind === "under_way")
    throw new AppError("CONFLICT", "A request with this Idempotency-Key is under way. Send it again in a second for its answer.", {
      retryAfter: 1,
    });
  const { held } = claim;
  const renewing = setInterval(() => void renewHold(held).catch(unsettled), (HOLD_SECONDS * 1000) / 3);
  try {
    const answer = await withRunId(held.run_id, work);
    await (isKept(answer) ? keepAnswer(held, answer) : freeKey(held)).catch(unsettled);
    return { ...answer, isReplayed: false };
  } catch (error) {
    await freeKey(held).catch(unsettled);
    throw error;
  } finally {
    clearInterval(renewing);
  }
}
