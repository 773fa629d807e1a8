import type { Metadata } from "next";
import { Suspense } from "react";
import { UsageSettings } from "#components/settings/usage-settings.tsx";

export const metadata: Metadata = { title: "Usage" };

/** The time that is shown stands in the address, which is known in the browser only. */
export default function UsagePage() {
  return (
    <Suspense>
      <UsageSettings />
    </Suspense>
  );
}
