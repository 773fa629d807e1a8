// Apart from the schemas, so that a page which only asks whether a run has ended loads no zod.

export const executionStatuses = ["pending", "queued", "running", "paused", "completed", "failed", "rejected", "cancelled"] as const;
type ExecutionStatus = (typeof executionStatuses)[number];

export const finalStatuses = ["completed", "failed", "rejected", "cancelled"] as const satisfies readonly ExecutionStatus[];

export const isFinal = (status: ExecutionStatus): boolean => (finalStatuses as readonly string[]).includes(status);

/** True of an attempt at a node that had begun and was ended before it was done. */
export const isStopped = (attempt: { status: string; started_at: Date | string | null; reused: boolean }): boolean =>
  attempt.status === "skipped" && attempt.started_at !== null && !attempt.reused;

/** What starts a run. */
export const executionTriggers = [
  "manual",
  "params",
  "webhook",
  "schedule",
  "http",
  "api",
  "assistant",
  "rerun",
  "fork",
  "workflow",
  "error",
] as const;

/** True of a run that failed before it started: its delivery or schedule fire could not start it. */
export const hasNeverStarted = ({ status, started_at }: { status: string; started_at: string | null }): boolean =>
  status === "failed" && started_at === null;
