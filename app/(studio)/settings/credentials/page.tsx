import type { Metadata } from "next";
import { CredentialsSettings } from "#components/settings/credentials-settings.tsx";

export const metadata: Metadata = { title: "Credentials" };

export default CredentialsSettings;
