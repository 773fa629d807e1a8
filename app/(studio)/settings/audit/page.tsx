import type { Metadata } from "next";
import { AuditSettings } from "#components/settings/audit-settings.tsx";

export const metadata: Metadata = { title: "Audit log" };

export default function AuditPage() {
  return <AuditSettings />;
}
