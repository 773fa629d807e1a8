import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { serverCaller } from "#app/server.ts";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { AccountForm } from "#components/entry/sign-in.tsx";

// The code in the address is the authority to make the owner, so it goes to no other site.
export const metadata: Metadata = { title: "Set up", referrer: "same-origin" };

export default async function SetupPage({ searchParams }: { searchParams: Promise<{ code?: string | string[] }> }) {
  const { caller } = await serverCaller();
  const { is_empty, needs_code } = await caller.identity.status({});
  if (!is_empty) redirect("/");
  const { code } = await searchParams;
  if (needs_code && typeof code !== "string")
    return (
      <EntryHeading title="This install has no owner yet">
        The person who runs it creates the owner: on the machine itself, or with the whole URL that Treadle printed when it started. Look in
        its output or log for a line that ends in <code className="whitespace-nowrap font-mono text-12">/setup?code=…</code>, and open that.
      </EntryHeading>
    );
  return (
    <>
      <EntryHeading title="Create the owner account">
        This install has no accounts yet. You will be its first admin; others join by invitation.
      </EntryHeading>
      <AccountForm kind="setUp" code={typeof code === "string" ? code : undefined} />
    </>
  );
}
