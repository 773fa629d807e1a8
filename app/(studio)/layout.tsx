import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { serverCaller } from "#app/server.ts";
import { NoProject } from "#components/navigation/no-project.tsx";
import { StudioFrame } from "#components/navigation/studio-frame.tsx";
import { LeaveToSignIn } from "#components/shell/leave-to-sign-in.tsx";
import { PROJECT_COOKIE } from "#components/shell/project-cookie.ts";
import { StudioProvider } from "#components/shell/studio-context.tsx";
import { ApiProvider } from "#components/trpc.tsx";

export default async function StudioLayout({ children }: { children: ReactNode }) {
  const { caller, principal } = await serverCaller();
  if (!principal) {
    const { is_empty } = await caller.identity.status({});
    if (is_empty) redirect("/setup");
    return <LeaveToSignIn />;
  }
  const profile = await caller.identity.profile({});
  const chosen = (await cookies()).get(PROJECT_COOKIE)?.value;
  const project = profile.projects.find(({ id }) => id === chosen) ?? profile.projects[0];
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
