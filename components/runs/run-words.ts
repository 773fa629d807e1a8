import { type ExecutionSummary, isFinal } from "#server/runs/schema.ts";

/** What came of a run, in a row of a list: why it failed, what came out, or that nothing did. What went in is no result. */
export function resultWords({ status, error, output }: Pick<ExecutionSummary, "status" | "error" | "output">): string {
  const told = error || output;
  if (told) return told;
  if (!isFinal(status)) return "No result yet";
  if (status === "completed") return "No text";
  return status === "cancelled" ? "Cancelled" : status === "rejected" ? "Rejected" : "Failed";
}
