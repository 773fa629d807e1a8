import type { Review as ReviewRow } from "#prisma/generated/client.ts";

type Decided = Pick<ReviewRow, "label" | "status" | "via" | "reviewer_name" | "reviewer_email" | "decided_at">;

const atTime = (time: Date | null) => (time ? ` on ${time.toISOString().slice(0, 16).replace("T", " ")} UTC` : "");

/** Who decided what and when, for whoever comes too late. */
export function decidedSentence({ label, status, via, reviewer_name, reviewer_email, decided_at }: Decided): string {
  const when = atTime(decided_at);
  if (status === "withdrawn") return `The review “${label}” was withdrawn${when}: its run ended before anybody decided.`;
  if (via === "timeout") return `Nobody decided the review “${label}” in time: it was rejected by its timeout${when}.`;
  const email = reviewer_email ?? "a former member";
  const who = reviewer_name ? `${reviewer_name} (${email})` : email;
  return `${who} has already ${status} the review “${label}”${when}.`;
}
