import type { ExecutionSummary } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/** What came of a run, in a row of a list: why it failed, what came out, or that nothing did. What went in is no result. */
export function runResultText({ status, error, output }: Pick<ExecutionSummary, "status" | "error" | "output">): string {
  const told = error || output;
  if (told) return told;
  if (!isFinal(status)) return "No result yet";
  if (status === "completed") return "No text";
  return status === "cancelled" ? "Cancelled" : status === "rejected" ? "Rejected" : "Failed";
}
