import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { wasRemoved } from "#server/features/projects/removed-members.ts";
import { decidedSentence, decideReview, type ReviewActor } from "#server/features/reviews/decide.ts";
import { questionDto } from "#server/features/reviews/read.ts";
import type { DecideByLinkInput, LinkedReview } from "#server/features/reviews/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError } from "#server/platform/errors.ts";
import { settings } from "#server/platform/settings.ts";
import { voterOf } from "#server/runs/store/review-votes.ts";
import { attachedHandles, findReview, type ReviewRow } from "#server/runs/store/reviews.ts";

// What a link in an e-mail carries: 16 bytes of the review's id, 4 of the second in which the link ends, of a member's own link
// 16 of the account's id, and 32 of the HMAC of all that. Nothing is stored: a decision counts once, and of each person an answer,
// so a link need not be used up.

const ID_BYTES = 16;
const TIME_BYTES = 4;
const BODY_BYTES = ID_BYTES + TIME_BYTES;
const OWN_BODY_BYTES = BODY_BYTES + ID_BYTES;
const MAC_BYTES = 32;
/** Of a link to a review that waits for ever. */
const VALID_MS = 30 * 24 * 60 * 60 * 1000;

function macOf(body: Buffer): Buffer {
  const { AUTH_SECRET } = settings();
  if (!AUTH_SECRET) throw new Error("AUTH_SECRET is not known yet: server/main.ts sets it at start.");
  return createHmac("sha256", Buffer.from(hkdfSync("sha256", AUTH_SECRET, "", "treadle review link v1", 32)))
    .update(body)
    .digest();
}

/** When a link that is sent now ends: with the time to decide, else after 30 days. */
export const linkEnd = (due_at: Date | null): Date => due_at ?? new Date(Date.now() + VALID_MS);

/**
 * The token of a link to a review, 70 URL-safe characters, or 91 of a member's own. Whoever has it may answer this review: as the
 * address that its node names, or as that member with the member's rights.
 */
export function reviewToken(review_id: string, expires_at: Date, user_id?: string): string {
  const body = Buffer.alloc(user_id === undefined ? BODY_BYTES : OWN_BODY_BYTES);
  body.write(review_id.replaceAll("-", ""), "hex");
  body.writeUInt32BE(Math.ceil(expires_at.getTime() / 1000), ID_BYTES);
  if (user_id !== undefined) body.write(user_id.replaceAll("-", ""), BODY_BYTES, "hex");
  return Buffer.concat([body, macOf(body)]).toString("base64url");
}

interface Link {
  review_id: string;
  expires_at: Date;
  /** Of a member's own link; that of the address which the node names has none. */
  user_id?: string;
}

function idAt(body: Buffer, start: number): string {
  const hex = body.toString("hex", start, start + ID_BYTES);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** What a token says, or null for one that we did not make. The end may have passed: the caller looks. */
export function readReviewToken(token: string): Link | null {
  const bytes = Buffer.from(token, "base64url");
  const body = bytes.subarray(0, -MAC_BYTES);
  if (bytes.length <= MAC_BYTES || ![BODY_BYTES, OWN_BODY_BYTES].includes(body.length)) return null;
  if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(body))) return null;
  return {
    review_id: idAt(body, 0),
    expires_at: new Date(body.readUInt32BE(ID_BYTES) * 1000),
    ...(body.length === OWN_BODY_BYTES && { user_id: idAt(body, BODY_BYTES) }),
  };
}

/**
 * The review that a link leads to: whoever holds the link may see and decide it, and nothing else.
 * @throws AppError NOT_FOUND with a sentence for a link that is not ours, or has expired, or whose review is gone
 */
async function findLinkedReview(token: string, texts?: DeferredTexts): Promise<{ row: ReviewRow; user_id: string | undefined }> {
  const link = readReviewToken(token);
  const row = link && (await findReview({ id: link.review_id }, texts));
  if (!row) throw new AppError("NOT_FOUND", "This link does not lead to a review. Check that it was copied whole.");
  if (link.expires_at > new Date()) return { row, user_id: link.user_id };
  const fate = row.status === "waiting" ? "Ask a member of the project to decide in the web app." : decidedSentence(row);
  throw new AppError("NOT_FOUND", `This link has expired. ${fate}`);
}

/**
 * Returns the review of a link. Changes nothing, since mail scanners open links too.
 * @param texts takes the long texts out
 * @throws AppError as `findLinkedReview`; PERMISSION_DENIED for a link of a person who was removed from the project
 */
export async function getLinkedReview({ token }: { token: string }, texts?: DeferredTexts): Promise<LinkedReview> {
  const { row, user_id } = await findLinkedReview(token, texts);
  const { user } = await holderOf(row, user_id);
  const question = questionDto(row, (await attachedHandles([row.id])).get(row.id) ?? []);
  const own = row.votes.find((vote) => vote.voter === voterOf(user));
  return { ...question, own_choice: own?.choice ?? null };
}

const notAsked = () =>
  new AppError(
    "PERMISSION_DENIED",
    "This link belongs to a person who no longer decides reviews of this project. Ask an admin of the project.",
  );

/**
 * Whose link it is: a member by the account or by the address that the node names, else the address alone.
 * @throws AppError PERMISSION_DENIED for a member who was removed or only views
 */
async function holderOf(
  { project_id, notification_email }: ReviewRow,
  user_id: string | undefined,
): Promise<Pick<ReviewActor, "user" | "role" | "counted">> {
  const named = notification_email ?? "";
  const email = named.toLowerCase();
  const member = await db().membership.findFirst({
    where: { project_id, user: user_id ? { id: user_id } : { email } },
    select: { role: true, user: { select: { id: true, email: true, name: true } } },
  });
  if (member && (user_id === undefined || member.role !== "viewer")) return member;
  if (user_id !== undefined || email === "" || (await wasRemoved(project_id, email))) throw notAsked();
  const account = await db().user.findUnique({ where: { email }, select: { id: true, email: true } });
  return { user: { id: null, email: named, name: "" }, role: null, ...(account && { counted: account }) };
}

/**
 * Answers the review that a link leads to; the token in the link is the authority.
 * @throws AppError NOT_FOUND for a link that is not valid; CONFLICT when it was decided, with who and when; PERMISSION_DENIED when
 *   the member whose link it is may not decide it any more
 */
export async function decideByLink({ token, ...answer }: DecideByLinkInput, texts?: DeferredTexts): Promise<LinkedReview> {
  const { row, user_id } = await findLinkedReview(token, new DeferredTexts());
  const holder = await holderOf(row, user_id);
  await decideReview(row.id, { ...holder, auth: { type: "email" }, isNamed: user_id === undefined }, answer);
  return getLinkedReview({ token }, texts);
}
