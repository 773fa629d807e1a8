"use client";

import { InvitationBanner } from "#components/navigation/invitation-banner.tsx";
import { Logo } from "#components/shell/logo.tsx";
import { signOutHere } from "#components/shell/sign-out-here.ts";
import { Button } from "#components/ui/button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

const CreateProjectForm = loadedOnUse(() =>
  import("#components/navigation/create-project-dialog.tsx").then((module) => module.CreateProjectForm),
);

/** For somebody who was removed from every project, or whose only one was deleted. */
export function NoProject({ email }: { email: string }) {
  return (
    <div className="woven relative flex min-h-dvh flex-col items-center justify-center gap-6 px-4 py-10">
      <Logo className="text-18 [&>svg]:size-7" />
      <main className="flex w-full max-w-100 flex-col gap-4 rounded-lg border border-line-strong bg-raised p-7 shadow-md">
        <div>
          <h1 className="font-semibold text-24">You are in no project</h1>
          <p className="text-14 text-ink-soft">Create one, or ask an admin of another to add {email}.</p>
        </div>
        <InvitationBanner className="rounded-md border" />
        <CreateProjectForm />
        <Button variant="ghost" className="self-start" onClick={() => void signOutHere()}>
          Sign out
        </Button>
      </main>
    </div>
  );
}
