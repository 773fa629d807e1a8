import type { Metadata } from "next";
import { ApiKeysSettings } from "#components/settings/api-keys-settings.tsx";

export const metadata: Metadata = { title: "API keys" };

export default ApiKeysSettings;
