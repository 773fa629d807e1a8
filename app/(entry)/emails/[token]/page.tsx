import type { Metadata } from "next";
import { headers } from "next/headers";
import { server } from "#app/server.ts";
import { EmailChoices } from "#components/entry/email-choices.tsx";
import { EntryHeading } from "#components/entry/entry-heading.tsx";

// The address is the authority to choose, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "Emails", robots: { index: false, follow: false }, referrer: "same-origin" };

/** Shows the emails of a project to the person of an address. Opening it changes nothing: choosing takes a click. */
export default async function EmailsPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const { appErrorOf, readForPage } = await server();
  const found = await readForPage(await headers(), (caller) => caller.emails.byLink({ token })).then(
    (emails) => ({ emails, problem: null }),
    (error: unknown) => ({ emails: null, problem: appErrorOf(error) }),
  );
  if (!found.emails) return <EntryHeading title="This link cannot be used">{found.problem?.message}</EntryHeading>;
  return <EmailChoices token={token} initial={found.emails} />;
}
