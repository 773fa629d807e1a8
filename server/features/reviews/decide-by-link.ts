import { decideReview, type ReviewActor } from "#server/features/reviews/decide-review.ts";
import { findLinkedReview } from "#server/features/reviews/find-linked-review.ts";
import { getLinkedReview } from "#server/features/reviews/get-linked-review.ts";
import { db } from "#server/platform/db/client.ts";
import type { DecideByLinkInput, LinkedReview } from "#server/runs/waits/schema.ts";

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
