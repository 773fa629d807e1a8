import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { serverCaller } from "#app/server-caller.ts";
import { AccountForm } from "#components/entry/account-form.tsx";
import { EntryHeading } from "#components/entry/entry-heading.tsx";

export const metadata: Metadata = { title: "Set up" };

export default async function SetupPage() {
  const { caller } = await serverCaller();
  const { is_empty } = await caller.identity.status({});
  if (!is_empty) redirect("/");
  return (
    <>
      <EntryHeading title="Create the owner account">
        Nobody has used this install yet. You will be its first admin; others join by invitation.
      </EntryHeading>
      <AccountForm kind="setUp" />
    </>
  );
}
