import { parseCleanJson } from "#server/platform/clean-text.ts";
import { AppError } from "#server/platform/errors.ts";
import { tokenHash, waitOfToken } from "#server/runs/callback-token.ts";
import { callbackStatus, resolveWait } from "#server/runs/store/waits.ts";
import { expireWaits, wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import { parseJson } from "#server/shared/json-text.ts";
import { asText } from "#server/workflow/resolve-expressions.ts";

/** How long what a callback brings may be, in characters of JSON. */
const MAX_PAYLOAD = 1_000_000;

/**
 * Resolves the callback that a token is for; the token is the authority, and counts once.
 * @param read JSON of the caller, which the waiting node gets; not asked for when the token lets nobody in
 * @throws AppError PAYLOAD_TOO_LARGE; VALIDATION_ERROR for JSON that is nested too deeply; NOT_FOUND for a token that is not
 *   valid; CONFLICT when it was used, came too late, or its run has ended
 */
export async function resolveCallback(token: string, read: () => Promise<string>): Promise<void> {
  const id = waitOfToken(token);
  if (id === null) throw unknownToken();
  const token_hash = tokenHash(token);
  if ((await callbackStatus(id, token_hash)) !== "waiting") throw await tooLate(id, token_hash);
  const payload = await read();
  if (payload.length > MAX_PAYLOAD)
    throw new AppError("PAYLOAD_TOO_LARGE", `A callback may bring ${MAX_PAYLOAD} characters of JSON at most.`);
  const wait = await resolveWait({ id, reason: "callback", outcome: textOf(payload), token_hash });
  if (!wait) throw await tooLate(id, token_hash);
  wakeEnded([wait]);
}

/** What a payload says, as the text that the node gets: numbers keep all of their digits, and fields their order. */
function textOf(payload: string): string {
  try {
    return asText(parseCleanJson(payload, parseJson));
  } catch (cause) {
    throw new AppError("VALIDATION_ERROR", "A callback brings JSON, and none that is nested too deeply.", { cause });
  }
}

const unknownToken = () => new AppError("NOT_FOUND", "No run waits for this token. Check that it was copied whole.");

/** Why a callback could not be resolved. One that is due expires now, so that the answer is the truth. */
async function tooLate(id: string, token_hash: string): Promise<AppError> {
  await expireWaits(id);
  const status = await callbackStatus(id, token_hash);
  if (!status) return unknownToken();
  return new AppError(
    "CONFLICT",
    status === "resolved" ? "This token was used already." : "Its run does not wait for this token any more.",
  );
}
