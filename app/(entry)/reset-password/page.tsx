import type { Metadata } from "next";
import { serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { RequestPasswordResetForm } from "#components/entry/reset-password.tsx";
import { Link } from "#components/ui/link.tsx";

export const metadata: Metadata = { title: "New password" };

export default async function RequestPasswordResetPage() {
  const { caller } = await serverCaller();
  const { sends_mail } = await caller.identity.status({});
  return (
    <>
      <EntryHeading title="New password">
        {sends_mail
          ? "A link to set one goes to the address of your account."
          : "This install sends no mail. An install admin can make a link for you to set a new password with: ask who set this install up."}
      </EntryHeading>
      {sends_mail && <RequestPasswordResetForm />}
      <p className="mt-4 text-14 text-ink-soft">
        <Link href="/sign-in" className="text-thread-text underline underline-offset-2">
          Back to sign in
        </Link>
      </p>
    </>
  );
}
