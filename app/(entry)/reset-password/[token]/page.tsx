import type { Metadata } from "next";
import { server, serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { ResetPasswordForm } from "#components/entry/reset-password.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";

// The address sets a password, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "New password", robots: { index: false, follow: false }, referrer: "same-origin" };

/** Opening it changes nothing, since programs open the links of mails too. */
export default async function ResetPasswordPage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const [{ appErrorOf }, { caller }] = await Promise.all([server(), serverCaller()]);
  const found = await caller.security.passwordReset({ token }).then(
    (reset) => ({ reset, problem: null }),
    (error: unknown) => ({ reset: null, problem: appErrorOf(error) }),
  );
  if (!found.reset)
    return (
      <>
        <EntryHeading title="This link cannot be used">{found.problem?.message}</EntryHeading>
        <Button asChild variant="primary" size="lg" className="w-full">
          <Link href="/reset-password">Ask for a new link</Link>
        </Button>
      </>
    );
  return (
    <>
      <EntryHeading title="Set a new password">It signs out every browser that is signed in with this account.</EntryHeading>
      <ResetPasswordForm token={token} email={found.reset.email} />
    </>
  );
}
