"use client";

import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { createStore } from "zustand/vanilla";
import type { Review } from "#server/features/reviews/schema.ts";

/** What somebody has typed at a review and not sent. */
export interface ReviewDraft {
  comment: string;
  /** The text that flows on, changed; null while it is as it was. */
  text: string | null;
}

const EMPTY: ReviewDraft = { comment: "", text: null };
const drafts = createStore<Record<string, ReviewDraft>>(() => ({}));

/** True when there is something that would be lost. */
export const isDraft = ({ comment, text }: ReviewDraft): boolean => comment.trim() !== "" || text !== null;

/** Forgets what was typed at a review: it was sent. */
export const dropDraft = (id: string): void =>
  drafts.setState((all) => Object.fromEntries(Object.entries(all).filter(([key]) => key !== id)), true);

/** What is typed at a review, as it goes with an answer. */
export function draftedAnswer({ id, text, editable }: Pick<Review, "id" | "text" | "editable">): { comment?: string; text?: string } {
  const draft = drafts.getState()[id] ?? EMPTY;
  const comment = draft.comment.trim();
  return { ...(comment && { comment }), ...(editable && draft.text !== null && draft.text !== text && { text: draft.text }) };
}

/** Ids of reviews at which something is typed that would be lost. */
export const useDrafted = (): readonly string[] =>
  useStore(
    drafts,
    useShallow((all) => Object.entries(all).flatMap(([id, draft]) => (isDraft(draft) ? [id] : []))),
  );

/** What is typed at a review, kept while one looks at others. */
export function useReviewDraft(id: string): [ReviewDraft, (changes: Partial<ReviewDraft>) => void] {
  const draft = useStore(drafts, (all) => all[id]) ?? EMPTY;
  return [draft, (changes) => drafts.setState((all) => ({ ...all, [id]: { ...(all[id] ?? EMPTY), ...changes } }))];
}
