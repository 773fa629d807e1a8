"use client";

import { type FormEvent, useEffect, useState } from "react";
import { Answers, choiceOf } from "#components/approvals/answers.tsx";
import { verdictWord } from "#components/approvals/verdict.tsx";
import { Votes } from "#components/approvals/votes.tsx";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { formatDateTime } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Time } from "#components/ui/time.tsx";
import type { LinkedReview } from "#server/features/reviews/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { visibleName, visibleText } from "#server/shared/visible-text.ts";
import { choiceName } from "#server/workflow/nodes/review-choices.ts";

/** A review whose texts are too long for the page: they are loaded once it is shown. */
export function LongReviewByLink({ token }: { token: string }) {
  const client = useTRPCClient();
  const [review, setReview] = useState<LinkedReview | null>(null);
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  useEffect(() => {
    client.reviews.byLink.query({ token }).then(setReview, (error: unknown) => setFailure(errorBodyOf(error)));
  }, [client, token]);
  if (failure) return <EntryHeading title="This review could not be loaded">{failure.detail}</EntryHeading>;
  return review ? <ReviewByLink token={token} initial={review} /> : <EntryHeading title="Loading the review…">{null}</EntryHeading>;
}

/** One review for whoever has the link: what is asked, and the two answers; afterwards who gave which. */
export function ReviewByLink({ token, initial, isPreview = false }: { token: string; initial: LinkedReview; isPreview?: boolean }) {
  const [review, setReview] = useState(initial);
  const { title, label, description, display_value, workflow_name, status } = review;
  return (
    <div data-wide>
      <EntryHeading title={visibleName(title || label)}>A run of “{visibleName(workflow_name)}” asks for a decision.</EntryHeading>
      <div className="flex flex-col gap-4">
        {description.trim() !== "" && <Markdown showsHidden>{description}</Markdown>}
        {display_value.trim() !== "" && (
          <section aria-label="Content to review" className="max-h-[60dvh] overflow-auto break-words rounded-md border bg-sunken px-4 py-3">
            <Markdown showsHidden>{display_value}</Markdown>
          </section>
        )}
        {status === "waiting" ? (
          <DecisionForm token={token} review={review} onDecided={setReview} isPreview={isPreview} />
        ) : (
          <Verdict review={review} />
        )}
      </div>
    </div>
  );
}

function Verdict({ review }: { review: LinkedReview }) {
  const { status, via, reviewer, decided_at, comment, text } = review;
  const when = decided_at && (
    <time dateTime={decided_at} suppressHydrationWarning>
      {formatDateTime(decided_at)}
    </time>
  );
  if (status === "withdrawn")
    return <Notice title="No decision is needed any more">The run ended before anybody decided{when && <>, on {when}</>}.</Notice>;
  const who =
    via === "timeout" ? "because the review timed out" : `by ${visibleName(reviewer?.name || reviewer?.email || "a former member")}`;
  const word = verdictWord(review);
  return (
    <>
      <Notice
        tone={status === "approved" ? "complete" : "info"}
        title={
          <>
            {["Approved", "Rejected"].includes(word) ? `${word} ${who}` : `“${word}”, chosen ${who}`}
            {when && <>, {when}</>}
          </>
        }
      >
        {visibleText(comment ?? "")}
      </Notice>
      {text !== null && <p className="whitespace-pre-wrap break-words rounded-md border px-4 py-3 text-14">{visibleText(text)}</p>}
    </>
  );
}

interface DecisionFormProps {
  token: string;
  review: LinkedReview;
  onDecided(review: LinkedReview): void;
  /** Only to be looked at: its buttons decide nothing. */
  isPreview: boolean;
}

function DecisionForm({ token, review, onDecided, isPreview }: DecisionFormProps) {
  const client = useTRPCClient();
  const { due_at, choices, quorum, own_choice } = review;
  const [comment, setComment] = useState("");
  const [text, setText] = useState<string | null>(null);
  const [pending, setPending] = useState<string | null>(null);
  const [failure, setFailure] = useState<ErrorBody | null>(null);
  const own = choiceOf(review, own_choice);

  const decide = async (choice: string) => {
    setPending(choice);
    setFailure(null);
    const changed = text !== null && text !== review.text && { text };
    try {
      onDecided(await client.reviews.decideByLink.mutate({ token, choice, ...(comment.trim() && { comment }), ...changed }));
      setText(null);
    } catch (error) {
      setFailure(errorBodyOf(error));
      // Somebody was first: show who. What was typed stays when there is nothing to show.
      const current = await client.reviews.byLink.query({ token }).catch(() => null);
      if (current && current.status !== "waiting") onDecided(current);
    } finally {
      setPending(null);
    }
  };

  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const choice = submitter instanceof HTMLButtonElement ? submitter.value : "";
    if (choice && pending === null && !isPreview) void decide(choice);
  };

  return (
    <form onSubmit={onSubmit} noValidate className="flex flex-col gap-4">
      {review.text !== null && review.editable && (
        <Field label="Text" hint="Flows on as you leave it">
          <Textarea name="text" rows={8} value={text ?? review.text} onChange={(event) => setText(event.target.value)} />
        </Field>
      )}
      {review.text !== null && !review.editable && (
        <section aria-label="Text that flows on" className="whitespace-pre-wrap break-words rounded-md border px-4 py-3 text-14">
          {visibleText(review.text)}
        </section>
      )}
      <Field label="Comment" isOptional hint="Goes on into the run with your decision">
        <Textarea name="comment" rows={3} value={comment} onChange={(event) => setComment(event.target.value)} />
      </Field>
      {quorum > 1 && <Votes review={review} />}
      {own && (
        <Notice tone="complete" title={`Your answer counts: ${choiceName(own)}`}>
          Others still have to answer. Until then you can choose otherwise.
        </Notice>
      )}
      {due_at !== null && (
        <p className="text-14 text-ink-soft">
          Without a decision it counts as rejected <Time value={due_at} />.
        </p>
      )}
      <FormFailure failure={failure} />
      <Answers choices={choices} pending={pending ?? isPreview} size="lg" />
    </form>
  );
}
