"use client";

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Keyboard } from "lucide-react";
import { useRef, useState } from "react";
import { ReviewCard } from "#components/approvals/review-card.tsx";
import { draftedAnswer, useDrafted } from "#components/approvals/review-drafts.ts";
import { type Filters, isFiltered, listInput } from "#components/approvals/review-filters.tsx";
import { ReviewRow } from "#components/approvals/review-row.tsx";
import { useTriageKeys } from "#components/approvals/triage-keys.ts";
import { type PendingAnswer, usePendingAnswers } from "#components/approvals/use-pending-answers.ts";
import { toReviewSummary, useKeptReviews } from "#components/approvals/use-reviews.ts";
import { REVIEWS_LIVE_MS } from "#components/approvals/use-waiting-count.ts";
import { ownVote } from "#components/approvals/votes.tsx";
import { plural } from "#components/format.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { Link } from "#components/ui/link.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Pager, PER_PAGE } from "#components/ui/pager.tsx";
import { TableSkeleton } from "#components/ui/skeleton.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";
import { isRejecting } from "#server/workflow/nodes/review-choices.ts";

const AnswerBar = loadedOnUse(() => import("#components/approvals/answer-bar.tsx").then((module) => module.AnswerBar));
const OutcomeNotice = loadedOnUse(() => import("#components/approvals/answer-bar.tsx").then((module) => module.OutcomeNotice));
const TriageHelp = loadedOnUse(() => import("#components/approvals/triage-help.tsx").then((module) => module.TriageHelp));

/** Most that are selected at once, over all pages. */
const MOST_SELECTED = 500;
const MOST_READ = 100;
/** From here on a review stands beside the list. */
export const WIDE = "(min-width: 1100px)";

export interface ReviewTriageProps {
  status: "waiting" | "decided";
  page: number;
  filters: Filters;
  now: number;
  isShown: boolean;
  /** The review that is read, as the address says. */
  reviewId: string | null;
  onShow: (id: string | null) => void;
  onPageChange: (page: number) => void;
  onClearFilters: () => void;
}

/** Reviews beside the one that is read; in a narrow window one after the other. What is answered can be taken back for a while. */
export function ReviewTriage({ status, page, filters, now, isShown, reviewId, onShow, onPageChange, onClearFilters }: ReviewTriageProps) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { user, canEdit } = useStudio();
  const isWaiting = status === "waiting";
  const input = {
    status,
    ...listInput({ ...filters, due: isWaiting ? filters.due : null }, now),
    ...(isWaiting && { sort: "due" as const }),
  };
  const reviews = useQuery(
    trpc.reviews.list.queryOptions(
      { ...input, page, per_page: PER_PAGE },
      { enabled: isShown, placeholderData: keepPreviousData, refetchInterval: REVIEWS_LIVE_MS },
    ),
  );
  const { kept: left, keep } = useKeptReviews(reviews.data?.items);
  // One that somebody else has decided stays while there are words of one's own at it.
  const drafted = useDrafted();
  const kept = left.filter(({ id }) => drafted.includes(id));
  const { pending, sending, outcome, answer, undo, flush, retry, dismiss } = usePendingAnswers((review) => keep(review, true));
  const [selected, setSelected] = useState<ReadonlyMap<string, ReviewSummary>>(new Map());
  /** How many were not selected with all others, since they are not for oneself, or not like that, to decide. */
  const [leftOut, setLeftOut] = useState(0);
  const [isReadingAll, setIsReadingAll] = useState(false);
  const [isHelping, setIsHelping] = useState(false);
  const detail = useRef<HTMLDivElement>(null);
  const shown = [...kept, ...(reviews.data?.items ?? [])];
  const pendingOf = (id: string) => [...pending, ...sending].find(({ review }) => review.id === id);
  const isOpen = (review: ReviewSummary) => review.status === "waiting" && !pendingOf(review.id);
  /** It waits for an answer of one's own. */
  const isMine = (review: ReviewSummary) => isOpen(review) && review.may_decide && !ownVote(review, user.id);
  /** How much more a run may spend is said one by one. */
  const isSelectable = (review: ReviewSummary) => isMine(review) && review.kind === "review";
  // Without one in the address the first that one can answer; below the width of two columns nothing until one is chosen. It stays
  // however the list changes: a key must not answer another than the one that is read.
  const place = JSON.stringify([input, page]);
  const first = shown.find(isMine) ?? shown.find(isOpen) ?? shown[0];
  const [pinned, setPinned] = useState<{ place: string; id: string } | null>(null);
  const isPinned = pinned !== null && pinned.place === place;
  if (isShown && reviewId === null && !isPinned && first && isOpen(first) && !reviews.isPlaceholderData) setPinned({ place, id: first.id });
  const readId = reviewId ?? (isPinned ? pinned.id : (first?.id ?? null));
  const wanted = shown.find(({ id }) => id === readId);
  const alone = useQuery(
    trpc.reviews.get.queryOptions({ review_id: readId ?? "" }, { enabled: isShown && readId !== null && reviews.isSuccess && !wanted }),
  );
  const read = wanted ?? (alone.data?.id === readId ? alone.data && toReviewSummary(alone.data) : undefined);

  /** Shows another, and lets the keyboard go on from its row. */
  const show = (review: ReviewSummary | undefined, isFocused = false) => {
    if (!review) setPinned(null);
    onShow(review?.id ?? null);
    if (isFocused && review)
      requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(review.id)}"]`)?.focus());
  };
  const move = (step: 1 | -1) => {
    const at = shown.findIndex(({ id }) => id === read?.id);
    const next = shown[at === -1 ? 0 : at + step];
    if (next) show(next, true);
  };
  /** The next one that is open after some are answered: below, else from the top. */
  const goOn = (answered: ReadonlySet<string>) => {
    const at = shown.findIndex(({ id }) => id === read?.id);
    const rest = [...shown.slice(at + 1), ...shown.slice(0, Math.max(0, at))];
    const next = rest.find((review) => isMine(review) && !answered.has(review.id));
    // On a phone one goes back to the list, where what is left can be seen.
    show(matchMedia(WIDE).matches ? next : undefined);
  };
  const give = (given: readonly (readonly [ReviewSummary, PendingAnswer])[]) => {
    answer(given);
    setSelected(new Map());
    setLeftOut(0);
    goOn(new Set(given.map(([{ id }]) => id)));
  };
  const answerRead = (which: "approve" | "reject" | number) => {
    if (!read || !isOpen(read)) return;
    if (read.kind === "budget") return void toast.info("Say in the form how much more the run may spend.");
    if (!read.may_decide) return void toast.info("You are not a reviewer of this review.");
    const { choices } = read;
    const choice =
      typeof which === "number"
        ? choices[which]
        : which === "reject"
          ? choices.find(isRejecting)
          : (choices.find((one) => one.style === "primary" && !isRejecting(one)) ?? choices.find((one) => !isRejecting(one)));
    if (!choice) return;
    give([[read, { choice: choice.id, ...draftedAnswer(read) }]]);
  };
  const takeBack = () => {
    const [first] = undo();
    if (first && matchMedia(WIDE).matches) show(first);
  };
  const select = (review: ReviewSummary, isSelected: boolean) =>
    setSelected(
      (before) => new Map([...[...before].filter(([id]) => id !== review.id), ...(isSelected ? [[review.id, review] as const] : [])]),
    );
  const selectAll = async () => {
    setIsReadingAll(true);
    const all: ReviewSummary[] = [];
    for (let at = 1; all.length < Math.min(reviews.data?.total ?? 0, MOST_SELECTED); at++) {
      const { items } = await cache.fetchQuery(trpc.reviews.list.queryOptions({ ...input, page: at, per_page: MOST_READ }));
      all.push(...items);
      if (items.length < MOST_READ) break;
    }
    const mine = all.slice(0, MOST_SELECTED).filter(isSelectable);
    setSelected(new Map(mine.map((one) => [one.id, one])));
    setLeftOut(all.filter(isOpen).length - mine.length);
    setIsReadingAll(false);
  };

  useTriageKeys({
    move: (step) => isShown && move(step),
    answer: (which) => isShown && answerRead(which),
    edit() {
      if (!isShown) return;
      const field =
        detail.current?.querySelector<HTMLElement>("[data-text]:not([readonly])") ??
        detail.current?.querySelector<HTMLElement>("[data-comment]");
      field?.focus();
    },
    select: () => isShown && isWaiting && read && isSelectable(read) && select(read, !selected.has(read.id)),
    undo: () => isShown && takeBack(),
    help: () => isShown && setIsHelping(true),
  });

  if (reviews.isError && !reviews.data) return <LoadFailure query={reviews} />;
  if (!reviews.data) return <TableSkeleton label="Loading reviews" rows={3} />;
  const answerable = [...selected.values()].filter(isOpen);
  // Stays in view at the foot of the page.
  const bar = (
    <div role="status" className="pointer-events-none sticky bottom-3 z-10 flex flex-col items-center gap-2">
      {(pending.length > 0 || answerable.length > 0) && (
        <AnswerBar
          pending={pending}
          selected={answerable}
          leftOut={leftOut}
          onAnswer={(decision) => give(answerable.map((review) => [review, { decision, ...draftedAnswer(review) }]))}
          onClear={() => {
            setSelected(new Map());
            setLeftOut(0);
          }}
          onUndo={takeBack}
          onSend={flush}
        />
      )}
    </div>
  );
  const notice = outcome && <OutcomeNotice outcome={outcome} onShow={(review) => show(review)} onRetry={retry} onDismiss={dismiss} />;
  if (shown.length === 0 && !read)
    return (
      <div className="flex flex-col gap-3">
        {notice}
        {isFiltered(filters) ? (
          <p className="flex flex-wrap items-center gap-3 py-6 text-14 text-ink-soft">
            No review matches these filters.
            <Button size="sm" onClick={onClearFilters}>
              Clear filters
            </Button>
          </p>
        ) : isWaiting ? (
          <NothingWaits canEdit={canEdit} />
        ) : (
          <p className="py-6 text-14 text-ink-soft">No review has been decided yet.</p>
        )}
        {bar}
      </div>
    );
  const selectable = shown.filter(isSelectable);
  const { total } = reviews.data;
  return (
    <div className="flex flex-col gap-3">
      {notice}
      <div className="grid items-start gap-4 min-[1100px]:grid-cols-[minmax(20rem,26rem)_minmax(0,1fr)]">
        <section aria-label="Reviews" className={cn("flex min-w-0 flex-col gap-2", reviewId !== null && "max-[1099px]:hidden")}>
          <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1 text-12 text-ink-soft">
            {isWaiting && selectable.length > 0 && (
              <Button size="sm" variant="ghost" isPending={isReadingAll} className="-ml-2" onClick={() => void selectAll()}>
                {total > MOST_SELECTED ? `Select the first ${MOST_SELECTED}` : "Select all"}
              </Button>
            )}
            <span className="flex-1 tabular">{plural(total, "review")}</span>
            <Button size="sm" variant="ghost" icon={<Keyboard />} className="max-md:hidden" onClick={() => setIsHelping(true)}>
              Keys
            </Button>
          </div>
          <ul className="divide-y overflow-hidden rounded-lg border bg-surface">
            {shown.map((review) => (
              <li key={review.id}>
                <ReviewRow
                  review={review}
                  isShown={review.id === read?.id}
                  isChosen={reviewId !== null}
                  isSelected={selected.has(review.id)}
                  pending={pendingOf(review.id)}
                  {...(isWaiting && isSelectable(review) && { onSelect: (isOn) => select(review, isOn) })}
                  onShow={() => show(review)}
                />
              </li>
            ))}
          </ul>
          <Pager page={page} total={total} onPageChange={onPageChange} />
        </section>
        <div
          ref={detail}
          data-focus-home
          tabIndex={-1}
          className={cn(
            "min-w-0 focus:outline-none min-[1100px]:sticky min-[1100px]:top-4 min-[1100px]:max-h-[calc(100dvh-2rem)] min-[1100px]:overflow-y-auto",
            reviewId === null && "max-[1099px]:hidden",
          )}
        >
          <Button variant="ghost" icon={<ArrowLeft />} className="-ml-2 mb-2 h-11 min-[1100px]:hidden" onClick={() => show(undefined)}>
            All reviews
          </Button>
          {!read && <LoadFailure query={alone} />}
          {read && pendingOf(read.id) ? (
            <p className="rounded-lg border bg-surface p-4 text-14 text-ink-soft">
              {pendingOf(read.id)?.isSending ? "Answered. It is being sent." : "Answered. It is sent in a moment; Undo takes it back."}
            </p>
          ) : (
            read && (
              <ReviewCard
                key={read.id}
                review={read}
                onTyping={(isTyping) => isTyping && keep(read, true)}
                onDismiss={() => {
                  keep(read, false);
                  show(undefined);
                }}
                {...(isOpen(read) && { onAnswer: (what) => give([[read, what]]) })}
              />
            )
          )}
        </div>
      </div>
      {bar}
      {isHelping && <TriageHelp onClose={() => setIsHelping(false)} />}
    </div>
  );
}

const NothingWaits = ({ canEdit }: { canEdit: boolean }) => (
  <EmptyState
    title="Nothing waits for a decision"
    actions={
      <>
        {canEdit && (
          <Button asChild>
            <Link href="/workflows/templates">Start from a template</Link>
          </Button>
        )}
        <Link href="/docs/reviews" className="text-14 text-thread-text hover:underline">
          How reviews work
        </Link>
      </>
    }
  >
    A Review node pauses its branch of a run until a reviewer decides. Open reviews appear here.
  </EmptyState>
);
