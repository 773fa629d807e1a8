import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { serverCaller, visitor } from "#app/server.ts";
import { NoProject } from "#components/navigation/no-project.tsx";
import { StudioFrame } from "#components/navigation/studio-frame.tsx";
import { LeaveToSignIn } from "#components/shell/leave-to-sign-in.tsx";
import { StudioProvider } from "#components/shell/studio-context.tsx";
import { ApiProvider } from "#components/trpc.tsx";

export default async function StudioLayout({ children }: { children: ReactNode }) {
  const here = await visitor();
  if (!here) {
    const { caller } = await serverCaller();
    const { is_empty } = await caller.identity.status({});
    if (is_empty) redirect("/setup");
    return <LeaveToSignIn />;
  }
  const { profile, project } = here;
  return (
    <ApiProvider projectId={project?.id ?? null}>
      {project ? (
        <StudioProvider profile={profile} project={project}>
          <StudioFrame>{children}</StudioFrame>
        </StudioProvider>
      ) : (
        <NoProject email={profile.email} />
      )}
    </ApiProvider>
  );
}
