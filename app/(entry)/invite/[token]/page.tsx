import type { Metadata } from "next";
import { server, serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { InvitationForm } from "#components/entry/invitation-form.tsx";
import { Button } from "#components/ui/button.tsx";
import { Link } from "#components/ui/link.tsx";

// The address opens the invitation, so it goes into no search engine and to no other site.
export const metadata: Metadata = { title: "Invitation", robots: { index: false, follow: false }, referrer: "same-origin" };

const DUTIES = {
  viewer: "see its workflows and runs",
  approver: "decide its reviews",
  editor: "build and run its workflows",
  admin: "manage it",
} as const;

export default async function InvitePage({ params }: { params: Promise<{ token: string }> }) {
  const { token } = await params;
  const [{ appErrorOf }, { caller }] = await Promise.all([server(), serverCaller()]);
  const found = await caller.identity.openInvitation({ token }).then(
    (invitation) => ({ invitation, problem: null }),
    (error: unknown) => ({ invitation: null, problem: appErrorOf(error) }),
  );
  if (!found.invitation) {
    const isUsed = found.problem?.code === "CONFLICT";
    return (
      <>
        <EntryHeading title={isUsed ? "This invitation has been used" : "This invitation is not valid"}>
          {isUsed
            ? "Sign in with the account that accepted it."
            : "It may have expired or been typed wrongly. Ask the person who invited you for a new link."}
        </EntryHeading>
        <Button asChild variant={isUsed ? "primary" : "secondary"} size="lg" className="w-full">
          <Link href="/sign-in">Go to sign in</Link>
        </Button>
      </>
    );
  }
  const { project, role } = found.invitation;
  return (
    <>
      <EntryHeading title={`Join ${project.name}`}>
        You are invited as {role}: you can {DUTIES[role]}.
      </EntryHeading>
      <InvitationForm token={token} invitation={found.invitation} />
    </>
  );
}
