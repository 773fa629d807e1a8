"use client";

import { CircleAlert, TriangleAlert } from "lucide-react";
import type { Problem } from "#server/workflow/schema.ts";

export const severityColor = (severity: Problem["severity"]): string => (severity === "error" ? "text-failed" : "text-waiting");

/** Red circle of an error, which prevents a run; amber triangle of a warning, which does not. */
export function SeverityIcon({ severity, className }: { severity: Problem["severity"]; className: string }) {
  const Icon = severity === "error" ? CircleAlert : TriangleAlert;
  return <Icon aria-hidden data-severity={severity} className={`shrink-0 ${severityColor(severity)} ${className}`} />;
}
