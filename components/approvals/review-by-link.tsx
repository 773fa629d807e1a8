"use client";

import { type FormEvent, useState } from "react";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { formatDateTime } from "#components/format.ts";
import { FormFailure } from "#components/forms/form.tsx";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { Markdown } from "#components/ui/markdown.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Time } from "#components/ui/time.tsx";
import { Decision, type LinkedReview } from "#server/features/reviews/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";

/** One review for whoever has the link: what is asked, and the two answers; afterwards who gave which. */
export function ReviewByLink({ token, initial, isPreview = false }: { token: string; initial: LinkedReview; isPreview?: boolean }) {
  const [review, setReview] = useState(initial);
  const { title, label, description, display_value, workflow_name, status } = review;
  return (
    <div data-wide>
      <EntryHeading title={title || label}>A run of “{workflow_name}” asks for a decision.</EntryHeading>
      <div className="flex flex-col gap-4">
        {description.trim() !== "" && <Markdown>{description}</Markdown>}
        {display_value.trim() !== "" && (
          <section aria-label="Content to review" className="max-h-[60dvh] overflow-auto break-words rounded-md border bg-sunken px-4 py-3">
            <Markdown>{display_value}</Markdown>
          </section>
        )}
        {status === "waiting" ? (
          <DecisionForm token={token} dueAt={review.due_at} onDecided={setReview} isPreview={isPreview} />
        ) : (
          <Verdict review={review} />
        )}
      </div>
    </div>
  );
}

function Verdict({ review: { status, via, reviewer, decided_at, comment } }: { review: LinkedReview }) {
  const when = decided_at && (
    <time dateTime={decided_at} suppressHydrationWarning>
      {formatDateTime(decided_at)}
    </time>
  );
  if (status === "withdrawn")
    return <Notice title="No decision is needed any more">The run ended before anybody decided{when && <>, on {when}</>}.</Notice>;
  const verb = status === "approved" ? "Approved" : "Rejected";
  const who = via === "timeout" ? "because nobody decided in time" : `by ${reviewer?.name || reviewer?.email || "a former member"}`;
  return (
    <Notice
      tone={status === "approved" ? "complete" : "waiting"}
      title={
        <>
          {verb} {who}
          {when && <>, {when}</>}
        </>
      }
    >
      {comment}
    </Notice>
  );
}

interface DecisionFormProps {
  token: string;
  dueAt: string | null;
  onDecided(review: LinkedReview): void;
  /** Only to be looked at: its buttons decide nothing. */
  isPreview: boolean;
}

function DecisionForm({ token, dueAt, onDecided, isPreview }: DecisionFormProps) {
  const client = useTRPCClient();
  const [comment, setComment] = useState("");
  const [pending, setPending] = useState<Decision | null>(null);
  const [failure, setFailure] = useState<ErrorBody | null>(null);

  const decide = async (decision: Decision) => {
    setPending(decision);
    setFailure(null);
    try {
      onDecided(await client.reviews.decideByLink.mutate({ token, decision, ...(comment.trim() && { comment }) }));
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
    const decision = Decision.safeParse(submitter instanceof HTMLButtonElement ? submitter.value : undefined);
    if (decision.success && pending === null && !isPreview) void decide(decision.data);
  };

  return (
    <form onSubmit={onSubmit} noValidate className="flex flex-col gap-4">
      <Field label="Comment" isOptional hint="Goes on into the run with your decision">
        <Textarea name="comment" rows={3} value={comment} onChange={(event) => setComment(event.target.value)} />
      </Field>
      {dueAt !== null && (
        <p className="text-13 text-ink-soft">
          Without a decision it counts as rejected <Time value={dueAt} />.
        </p>
      )}
      <FormFailure failure={failure} />
      <div className="grid grid-cols-2 gap-2">
        <Button
          type="submit"
          value="approved"
          variant="primary"
          size="lg"
          isPending={pending === "approved"}
          disabled={isPreview || pending === "rejected"}
        >
          Approve
        </Button>
        <Button type="submit" value="rejected" size="lg" isPending={pending === "rejected"} disabled={isPreview || pending === "approved"}>
          Reject
        </Button>
      </div>
    </form>
  );
}
