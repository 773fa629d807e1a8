import type { Prisma } from "#prisma/generated/client.ts";
import { decidedSentence } from "#server/features/reviews/decided-sentence.ts";
import { readReviewToken } from "#server/features/reviews/review-token.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { reviewFields } from "#server/runs/waits/review-dto.ts";

type LinkedRow = Prisma.WaitGetPayload<{ include: typeof reviewFields }>;

/**
 * The review that a link leads to: whoever holds the link may see and decide it, and nothing else.
 * @throws AppError NOT_FOUND with a sentence for a link that is not ours, or has expired, or whose review is gone
 */
export async function findLinkedReview(token: string): Promise<LinkedRow> {
  const link = readReviewToken(token);
  const row = link && (await db().wait.findUnique({ where: { id: link.review_id, reason: "review" }, include: reviewFields }));
  if (!row) throw new AppError("NOT_FOUND", "This link does not lead to a review. Check that it was copied whole.");
  if (link.expires_at > new Date()) return row;
  const fate = row.status === "waiting" ? "Ask a member of the project to decide in the web app." : decidedSentence(row);
  throw new AppError("NOT_FOUND", `This link has expired. ${fate}`);
}
