import type { Metadata } from "next";
import { InstallSettings } from "#components/settings/install-settings.tsx";

export const metadata: Metadata = { title: "Install" };

export default InstallSettings;
