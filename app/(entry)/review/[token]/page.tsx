import type { Metadata } from "next";
import { server, serverCaller } from "#app/server.ts";
import { ReviewByLink } from "#components/approvals/review-by-link.tsx";
import { EntryHeading } from "#components/entry/entry-heading.tsx";

// The address is the authority to decide, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "Review", robots: { index: false, follow: false }, referrer: "same-origin" };

/** Shows a review to whoever has the link from the e-mail. Opening it changes nothing: deciding takes a click. */
export default async function ReviewPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const [{ appErrorOf }, { caller }] = await Promise.all([server(), serverCaller()]);
  const found = await caller.reviews.byLink({ token }).then(
    (review) => ({ review, problem: null }),
    (error: unknown) => ({ review: null, problem: appErrorOf(error) }),
  );
  if (!found.review) return <EntryHeading title="This link cannot be used">{found.problem?.message}</EntryHeading>;
  return <ReviewByLink token={token} initial={found.review} />;
}
