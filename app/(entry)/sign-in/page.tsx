import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { serverCaller } from "#app/server-caller.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { SignInForm } from "#components/entry/sign-in-form.tsx";
import { sameOriginPath } from "#server/platform/auth/request-origin.ts";

export const metadata: Metadata = { title: "Sign in" };

export default async function SignInPage({ searchParams }: { searchParams: Promise<{ next?: string | string[] }> }) {
  const { next } = await searchParams;
  const goOn = sameOriginPath(typeof next === "string" ? next : undefined);
  const { caller, principal } = await serverCaller();
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
