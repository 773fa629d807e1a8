import type { Metadata } from "next";
import { headers } from "next/headers";
import { server } from "#app/server.ts";
import { LongReviewByLink, ReviewByLink } from "#components/approvals/review-by-link.tsx";
import { EntryHeading } from "#components/entry/entry-heading.tsx";

// The address is the authority to decide, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "Review", robots: { index: false, follow: false }, referrer: "same-origin" };

/** Shows a review to whoever has the link from the e-mail. Opening it changes nothing: deciding takes a click. */
export default async function ReviewPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const { appErrorOf, readForPage } = await server();
  const found = await readForPage(await headers(), (caller) => caller.reviews.byLink({ token })).then(
    (review) => ({ review, problem: null }),
    (error: unknown) => ({ review: null, problem: appErrorOf(error) }),
  );
  if (found.problem) return <EntryHeading title="This link cannot be used">{found.problem.message}</EntryHeading>;
  return found.review ? <ReviewByLink token={token} initial={found.review} /> : <LongReviewByLink token={token} />;
}
