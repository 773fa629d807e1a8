"use client";

import Link from "next/link";
import { StatusIcon } from "#components/ui/status.tsx";
import { Time } from "#components/ui/time.tsx";
import type { ReviewSummary } from "#server/features/reviews/schema.ts";

/** Reviews that wait, as rows: what is asked, of which workflow, since when. */
export function ReviewRows({ reviews }: { reviews: readonly ReviewSummary[] }) {
  return (
    <ul className="divide-y">
      {reviews.map((review) => (
        <li key={review.id} className="relative flex min-h-11 items-center gap-3 px-3 py-1.5 transition-colors hover:bg-hover">
          <StatusIcon status="waiting" />
          <div className="min-w-0 flex-1">
            <Link href={`/runs/${review.execution_id}`} className="block truncate font-medium after:absolute after:inset-0">
              {review.title || review.label}
            </Link>
            <p className="truncate text-12 text-ink-soft">{review.workflow_name}</p>
          </div>
          <Time value={review.created_at} className="shrink-0 whitespace-nowrap text-12 text-ink-soft tabular" />
        </li>
      ))}
    </ul>
  );
}
