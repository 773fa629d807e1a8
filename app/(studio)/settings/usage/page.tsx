import type { Metadata } from "next";
import { UsageSettings } from "#components/settings/usage-settings.tsx";

export const metadata: Metadata = { title: "Usage" };

export default function UsagePage() {
  return <UsageSettings />;
}
