import type { Metadata } from "next";
import { ProjectSettings } from "#components/settings/project-settings.tsx";

export const metadata: Metadata = { title: "Project" };

export default ProjectSettings;
