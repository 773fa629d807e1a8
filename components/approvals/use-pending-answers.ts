"use client";

import { useEffect, useEffectEvent, useRef, useState } from "react";
import type { ReviewAnswer } from "#components/approvals/review-decision.tsx";
import { dropDraft } from "#components/approvals/review-drafts.ts";
import { plural } from "#components/format.ts";
import { beforeSignOut } from "#components/shell/before-sign-out.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Decision, ReviewSummary } from "#server/features/reviews/schema.ts";

/** How long an answer can be taken back before it is sent. */
export const UNDO_MS = 10_000;
/** As many go in one request as the server takes. */
const TOGETHER = 100;
/** What a browser sends for a page that is left has at most 64 KiB in all, headers too: what would not fit is sent at once. */
const MOST_KEPT_BYTES = 60_000;

export type PendingAnswer = Partial<ReviewAnswer> & { decision?: Decision };

export interface Pending {
  review: ReviewSummary;
  answer: PendingAnswer;
  /** Those that were given together, and are taken back together. */
  batch: number;
  /** When it is sent. */
  at: number;
  /** It is on its way, and cannot be taken back any more. */
  isSending?: true;
}

/** An answer that the server did not take. */
interface Refused {
  review: ReviewSummary;
  answer: PendingAnswer;
  reason: string;
  /** The server was not reached: the same answer may be sent again. */
  isUnsent: boolean;
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
  const [sending, setSending] = useState<readonly Pending[]>([]);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  /** The same, for what happens between two drawings. */
  const held = useRef<readonly Pending[]>([]);
  const batches = useRef(0);
  const isGone = useRef(false);
  const set = (next: readonly Pending[]) => {
    held.current = next;
    setPending(next);
  };

  /** Sends these, which are not held any more. */
  const send = async (all: readonly Pending[]) => {
    const refused: Refused[] = [];
    const ids = new Set(all.map(({ review }) => review.id));
    setSending((others) => [...others, ...all.map((one) => ({ ...one, isSending: true as const }))]);
    for (let from = 0; from < all.length; from += TOGETHER) {
      const part = all.slice(from, from + TOGETHER);
      const results = await client.reviews.decide.mutate(bodyOf(part)).then(
        (answer) => answer.results.map(({ error }) => error),
        (error: unknown) => part.map(() => errorBodyOf(error)),
      );
      for (const [index, { review, answer }] of part.entries()) {
        const error = results[index] ?? null;
        if (error === null) dropDraft(review.id);
        else {
          refused.push({ review, answer, reason: error.detail, isUnsent: error.status === 0 || error.status >= 500 });
          onRefused(review);
        }
      }
    }
    void cache.invalidateQueries(trpc.notifications.pathFilter());
    if (isGone.current) {
      const [first] = refused;
      if (first) toast.error(`${plural(refused.length, "answer")} not taken`, { description: first.reason });
    } else if (all.length > 1 || refused.length) setOutcome({ taken: all.length - refused.length, refused });
    // Until the list knows, they are not open again.
    await cache.invalidateQueries(trpc.reviews.pathFilter());
    setSending((others) => others.filter(({ review }) => !ids.has(review.id)));
  };

  const flush = async () => {
    const all = held.current;
    if (all.length === 0) return;
    set([]);
    await send(all);
  };

  /** Answers some reviews, which are taken back together. */
  const answer = (given: readonly (readonly [ReviewSummary, PendingAnswer])[]) => {
    const batch = ++batches.current;
    const at = Date.now() + UNDO_MS;
    const ids = new Set(given.map(([{ id }]) => id));
    setOutcome(null);
    const others = held.current.filter(({ review }) => !ids.has(review.id));
    set([...others, ...given.map(([review, one]) => ({ review, answer: one, batch, at }))]);
    if (new Blob([JSON.stringify(bodyOf(held.current))]).size > MOST_KEPT_BYTES) void flush();
  };

  /** Takes back what was given last. @returns the reviews that are open again */
  const undo = (): readonly ReviewSummary[] => {
    const last = held.current.at(-1)?.batch;
    const back = held.current.filter(({ batch }) => batch === last);
    set(held.current.filter(({ batch }) => batch !== last));
    return back.map(({ review }) => review);
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
    isGone.current = false;
    addEventListener("pagehide", close);
    const stop = beforeSignOut(() => leave());
    return () => {
      isGone.current = true;
      removeEventListener("pagehide", close);
      stop();
      void leave();
    };
  }, []);

  /** Sends again what did not reach the server. */
  const retry = () => {
    const unsent = outcome?.refused.filter(({ isUnsent }) => isUnsent) ?? [];
    setOutcome(null);
    void send(unsent.map(({ review, answer: given }) => ({ review, answer: given, batch: 0, at: 0 })));
  };

  return { pending, sending, outcome, answer, undo, flush: () => void flush(), retry, dismiss: () => setOutcome(null) };
}
