import type { Metadata } from "next";
import { SecuritySettings } from "#components/settings/security-settings.tsx";

export const metadata: Metadata = { title: "Security" };

export default SecuritySettings;
