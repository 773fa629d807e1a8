import type { Metadata } from "next";
import { SessionsSettings } from "#components/settings/sessions-settings.tsx";

export const metadata: Metadata = { title: "Sessions" };

export default SessionsSettings;
