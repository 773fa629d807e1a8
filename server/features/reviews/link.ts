import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { decidedSentence, decideReview, type ReviewActor } from "#server/features/reviews/decide.ts";
import { linkedReviewDto } from "#server/features/reviews/read.ts";
import type { DecideByLinkInput, LinkedReview } from "#server/features/reviews/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { settings } from "#server/platform/settings.ts";
import { findReview, type ReviewRow } from "#server/runs/store/reviews.ts";

// What a link in an e-mail carries: 16 bytes of the review's id, 4 of the second in which the link ends, 32 of their HMAC.
// Nothing is stored: a decision counts once, so a link need not be used up.

const ID_BYTES = 16;
const BODY_BYTES = ID_BYTES + 4;
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

/** The token of a link to a review, 70 URL-safe characters. Whoever has it may decide this review. */
export function reviewToken(review_id: string, expires_at: Date): string {
  const body = Buffer.alloc(BODY_BYTES);
  body.write(review_id.replaceAll("-", ""), "hex");
  body.writeUInt32BE(Math.ceil(expires_at.getTime() / 1000), ID_BYTES);
  return Buffer.concat([body, macOf(body)]).toString("base64url");
}

/** What a token says, or null for one that we did not make. The end may have passed: the caller looks. */
export function readReviewToken(token: string): { review_id: string; expires_at: Date } | null {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== BODY_BYTES + MAC_BYTES) return null;
  const body = bytes.subarray(0, BODY_BYTES);
  if (!timingSafeEqual(bytes.subarray(BODY_BYTES), macOf(body))) return null;
  const hex = body.toString("hex", 0, ID_BYTES);
  const review_id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  return { review_id, expires_at: new Date(body.readUInt32BE(ID_BYTES) * 1000) };
}

/**
 * The review that a link leads to: whoever holds the link may see and decide it, and nothing else.
 * @throws AppError NOT_FOUND with a sentence for a link that is not ours, or has expired, or whose review is gone
 */
async function findLinkedReview(token: string): Promise<ReviewRow> {
  const link = readReviewToken(token);
  const row = link && (await findReview({ id: link.review_id }));
  if (!row) throw new AppError("NOT_FOUND", "This link does not lead to a review. Check that it was copied whole.");
  if (link.expires_at > new Date()) return row;
  const fate = row.status === "waiting" ? "Ask a member of the project to decide in the web app." : decidedSentence(row);
  throw new AppError("NOT_FOUND", `This link has expired. ${fate}`);
}

/** What somebody with a link is asked. Changes nothing: programs that look at links before people do must not decide. */
export const getLinkedReview = async ({ token }: { token: string }): Promise<LinkedReview> =>
  linkedReviewDto(await findLinkedReview(token));

/** Who the link was sent to: the member of the project with that address, else the address alone. */
async function recipient(project_id: string, address: string): Promise<Pick<ReviewActor, "user" | "role">> {
  const member = await db().membership.findFirst({
    where: { project_id, user: { email: address.toLowerCase() } },
    select: { role: true, user: { select: { id: true, email: true, name: true } } },
  });
  return member ?? { user: { id: null, email: address, name: "" }, role: null };
}

/**
 * Decides the review that a link leads to; the token in the link is the authority.
 * @throws AppError NOT_FOUND for a link that is not valid; CONFLICT when it was decided, with who and when
 */
export async function decideByLink({ token, ...verdict }: DecideByLinkInput): Promise<LinkedReview> {
  const { id, project_id, notification_email } = await findLinkedReview(token);
  const { decision, comment } = verdict;
  const actor = { ...(await recipient(project_id, notification_email ?? "")), auth: { type: "email" as const } };
  await decideReview(id, actor, { decision, ...(comment !== undefined && { comment }) });
  return getLinkedReview({ token });
}
