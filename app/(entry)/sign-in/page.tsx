import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { server, serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { SignInForm } from "#components/entry/sign-in.tsx";
import { signInProblem } from "#components/entry/sign-in-problems.ts";
import { Link } from "#components/ui/link.tsx";
import { Notice } from "#components/ui/notice.tsx";

export const metadata: Metadata = { title: "Sign in" };

interface Query {
  next?: string | string[];
  /** Reason for a failed sign-in through a service. */
  error?: string | string[];
}

export default async function SignInPage({ searchParams }: { searchParams: Promise<Query> }) {
  const { next, error } = await searchParams;
  const [{ sameOriginPath }, { caller, principal }] = await Promise.all([server(), serverCaller()]);
  const goOn = sameOriginPath(typeof next === "string" ? next : undefined);
  const problem = typeof error === "string" ? signInProblem(error) : null;
  if (principal && problem === null) redirect(goOn);
  const { is_empty, signup_open } = await caller.identity.status({});
  if (is_empty) redirect("/setup");
  return (
    <>
      <EntryHeading title="Sign in" />
      {problem !== null && (
        <Notice tone="failed" className="mb-4" actions={principal && <Link href="/settings/security">Back to your settings</Link>}>
          {problem}
        </Notice>
      )}
      {!principal && <SignInForm next={goOn} isSignupOpen={signup_open} />}
    </>
  );
}
