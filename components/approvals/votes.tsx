import { choiceOf } from "#components/approvals/answers.tsx";
import type { LinkedReview } from "#server/features/reviews/schema.ts";
import { visibleName } from "#server/shared/visible-text.ts";
import { choiceName } from "#server/workflow/nodes/review-choices.ts";

/** How many of those who must agree have, and who said what. Nothing where one person decides. */
export function Votes({ review }: { review: Pick<LinkedReview, "quorum" | "votes" | "choices"> }) {
  const { quorum, votes } = review;
  if (quorum === 1) return null;
  return (
    <section aria-label="Answers so far" className="flex flex-col gap-1 text-12 text-ink-soft">
      <p>{votesLine(review)}</p>
      {votes.length > 0 && (
        <ul className="flex flex-col gap-0.5">
          {votes.map(({ reviewer, choice, comment }) => (
            <li key={reviewer.id ?? reviewer.email} className="break-words">
              <span className="text-ink">{visibleName(reviewer.name || reviewer.email)}</span>:{" "}
              {choiceName(choiceOf(review, choice) ?? { id: choice, label: "" })}
              {comment && <span> – {comment}</span>}
            </li>
          ))}
        </ul>
      )}
      <span className="sr-only">{quorum} must agree</span>
    </section>
  );
}

/** What somebody has answered to a review at which several must agree; undefined before. */
export const ownVote = ({ votes }: Pick<LinkedReview, "votes">, userId: string) => votes.find(({ reviewer }) => reviewer.id === userId);

/** "1 of 2 agree": of the answer that most have given. */
export function votesLine({ quorum, votes }: Pick<LinkedReview, "quorum" | "votes">): string {
  const counts = Map.groupBy(votes, ({ choice }) => choice);
  const most = Math.max(0, ...[...counts.values()].map(({ length }) => length));
  return `${most} of ${quorum} agree`;
}
