import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { AccountForm } from "#components/entry/sign-in.tsx";
import { Link } from "#components/ui/link.tsx";

export const metadata: Metadata = { title: "Sign up" };

export default async function SignUpPage() {
  const { caller, principal } = await serverCaller();
  const { is_empty, signup_open } = await caller.identity.status({});
  if (is_empty) redirect("/setup");
  if (principal || !signup_open) redirect("/");
  return (
    <>
      <EntryHeading title="Sign up" />
      <AccountForm kind="signUp" />
      <p className="mt-4 text-14 text-ink-soft">
        Have an account?{" "}
        <Link href="/sign-in" className="text-thread-text underline underline-offset-2">
          Sign in
        </Link>
      </p>
    </>
  );
}
