import type { Wait } from "#prisma/generated/client.ts";
import { verdictOf } from "#server/runs/waits/review-dto.ts";

type Decided = Pick<Wait, "label" | "status" | "outcome" | "reviewer_name" | "reviewer_email" | "resolved_at">;

const atTime = (time: Date | null) => (time ? ` on ${time.toISOString().slice(0, 16).replace("T", " ")} UTC` : "");

/** Who decided what and when, for whoever comes too late. */
export function decidedSentence({ label, status, outcome, reviewer_name, reviewer_email, resolved_at }: Decided): string {
  const when = atTime(resolved_at);
  if (status === "withdrawn") return `The review “${label}” was withdrawn${when}: its run ended before anybody decided.`;
  if (status === "expired") return `Nobody decided the review “${label}” in time: it was rejected by its timeout${when}.`;
  const email = reviewer_email ?? "a former member";
  const who = reviewer_name ? `${reviewer_name} (${email})` : email;
  return `${who} has already ${verdictOf({ status, outcome }).status} the review “${label}”${when}.`;
}
