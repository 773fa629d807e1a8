import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { server, serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { SignInForm } from "#components/entry/sign-in.tsx";

export const metadata: Metadata = { title: "Sign in" };

export default async function SignInPage({ searchParams }: { searchParams: Promise<{ next?: string | string[] }> }) {
  const { next } = await searchParams;
  const [{ sameOriginPath }, { caller, principal }] = await Promise.all([server(), serverCaller()]);
  const goOn = sameOriginPath(typeof next === "string" ? next : undefined);
  if (principal) redirect(goOn);
  const { is_empty, signup_open } = await caller.identity.status({});
  if (is_empty) redirect("/setup");
  return (
    <>
      <EntryHeading title="Sign in" />
      <SignInForm next={goOn} isSignupOpen={signup_open} />
    </>
  );
}
