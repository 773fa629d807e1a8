import type { Metadata } from "next";
import { Suspense } from "react";
import { AuditSettings } from "#components/settings/audit-settings.tsx";

export const metadata: Metadata = { title: "Audit log" };

/** Filters and page stand in the address, which is known in the browser only. */
export default function AuditPage() {
  return (
    <Suspense>
      <AuditSettings />
    </Suspense>
  );
}
