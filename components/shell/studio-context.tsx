"use client";

import type { ReactNode } from "react";
import { setFormat } from "#components/format.ts";
import { createStrictContext } from "#components/ui/strict-context.ts";
import type { UserProfile } from "#server/features/identity/schema.ts";

type StudioProject = UserProfile["projects"][number];

interface Studio {
  user: { id: string; name: string; email: string; isInstallAdmin: boolean };
  projects: StudioProject[];
  /** The project that every page and call is about. */
  project: StudioProject;
  /** May decide reviews: everybody but viewers. */
  canDecide: boolean;
  /** May write and run: editor and admin. */
  canEdit: boolean;
  /** May manage members, secrets and LLM keys. */
  canAdminister: boolean;
}

/** Who is signed in, in which project, and what they may do there. */
const [StudioContext, useStudio] = createStrictContext<Studio>("StudioProvider");

export { useStudio };

export function StudioProvider({ profile, project, children }: { profile: UserProfile; project: StudioProject; children: ReactNode }) {
  const { id, name, email, is_install_admin: isInstallAdmin, projects, time_zone, locale } = profile;
  // Before anything of the page is written.
  setFormat({ ...(time_zone !== null && { timeZone: time_zone }), ...(locale !== null && { locale }) });
  return (
    <StudioContext
      value={{
        user: { id, name, email, isInstallAdmin },
        projects,
        project,
        canDecide: project.role !== "viewer",
        canEdit: project.role === "editor" || project.role === "admin",
        canAdminister: project.role === "admin",
      }}
    >
      {children}
    </StudioContext>
  );
}
