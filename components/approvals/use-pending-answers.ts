"use client";

import { useEffect, useEffectEvent, useRef, useState } from "react";
import type { ReviewAnswer } from "#components/approvals/review-decision.tsx";
import { dropDraft } from "#components/approvals/review-drafts.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import type { Decision, ReviewSummary } from "#server/features/reviews/schema.ts";

/** How long an answer can be taken back before it is sent. */
export const UNDO_MS = 10_000;
/** As many go in one request as the server takes. */
const TOGETHER = 100;
/** What a browser sends for a page that is left has at most 64 KiB in all: what would not fit is sent at once. */
const MOST_KEPT = 30_000;

export type PendingAnswer = Partial<ReviewAnswer> & { decision?: Decision };

export interface Pending {
  review: ReviewSummary;
  answer: PendingAnswer;
  /** Those that were given together, and are taken back together. */
  batch: number;
  /** When it is sent. */
  at: number;
}

/** An answer that the server did not take. */
interface Refused {
  review: ReviewSummary;
  reason: string;
}

/** How answers that were sent have come out. */
export interface Outcome {
  taken: number;
  refused: readonly Refused[];
}

const bodyOf = (all: readonly Pending[]) => ({ answers: all.map(({ review, answer }) => ({ review_id: review.id, ...answer })) });

/**
 * Answers that can be taken back for ten seconds. They are sent then, or when the page is left.
 * @param onRefused called with each review whose answer was not taken; what was typed there is kept
 */
export function usePendingAnswers(onRefused: (review: ReviewSummary) => void) {
  const { trpc, client, cache } = useApi();
  const { project } = useStudio();
  const [pending, setPending] = useState<readonly Pending[]>([]);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  /** The same, for what happens between two drawings. */
  const held = useRef<readonly Pending[]>([]);
  const batches = useRef(0);
  const set = (next: readonly Pending[]) => {
    held.current = next;
    setPending(next);
  };

  /** Sends these, which are not held any more. */
  const send = async (all: readonly Pending[]) => {
    const refused: Refused[] = [];
    for (let from = 0; from < all.length; from += TOGETHER) {
      const part = all.slice(from, from + TOGETHER);
      const results = await client.reviews.decide.mutate(bodyOf(part)).then(
        (answer) => answer.results.map(({ error }) => error?.detail ?? null),
        (error: unknown) => part.map(() => errorBodyOf(error).detail),
      );
      for (const [index, { review }] of part.entries()) {
        const reason = results[index] ?? null;
        if (reason === null) dropDraft(review.id);
        else {
          refused.push({ review, reason });
          onRefused(review);
        }
      }
    }
    void cache.invalidateQueries(trpc.reviews.pathFilter());
    void cache.invalidateQueries(trpc.notifications.pathFilter());
    if (all.length > 1 || refused.length) setOutcome({ taken: all.length - refused.length, refused });
  };

  const flush = () => {
    const all = held.current;
    if (all.length === 0) return;
    set([]);
    void send(all);
  };

  /** Gives an answer to some reviews. */
  const answer = (reviews: readonly ReviewSummary[], given: PendingAnswer) => {
    const batch = ++batches.current;
    const at = Date.now() + UNDO_MS;
    const ids = new Set(reviews.map(({ id }) => id));
    setOutcome(null);
    set([...held.current.filter(({ review }) => !ids.has(review.id)), ...reviews.map((review) => ({ review, answer: given, batch, at }))]);
    if (JSON.stringify(bodyOf(held.current)).length > MOST_KEPT) flush();
  };

  /** Takes back what was given last. */
  const undo = () => {
    const last = held.current.at(-1)?.batch;
    set(held.current.filter(({ batch }) => batch !== last));
  };

  // Each answer when its own time is over.
  const next = pending[0]?.at;
  const sendDue = useEffectEvent(() => {
    const now = Date.now();
    const due = held.current.filter(({ at }) => at <= now);
    set(held.current.filter(({ at }) => at > now));
    if (due.length) void send(due);
  });
  useEffect(() => {
    if (next === undefined) return;
    const timer = setTimeout(sendDue, Math.max(0, next - Date.now()) + 20);
    return () => clearTimeout(timer);
  }, [next]);

  // A page that is left for another of ours is still there to send; one that is closed has the browser send for it.
  const leave = useEffectEvent(flush);
  const close = useEffectEvent(() => {
    const all = held.current;
    if (all.length === 0) return;
    set([]);
    for (const { review } of all) dropDraft(review.id);
    for (let from = 0; from < all.length; from += TOGETHER)
      void fetch("/api/trpc/reviews.decide", {
        method: "POST",
        keepalive: true,
        headers: { "content-type": "application/json", "X-Project-ID": project.id },
        body: JSON.stringify(bodyOf(all.slice(from, from + TOGETHER))),
      });
  });
  useEffect(() => {
    addEventListener("pagehide", close);
    return () => {
      removeEventListener("pagehide", close);
      leave();
    };
  }, []);

  return { pending, outcome, answer, undo, flush, dismiss: () => setOutcome(null) };
}
