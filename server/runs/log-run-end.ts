import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";

interface EndedRun {
  execution_id: string;
  workflow_id: string;
  status: ExecutionStatus;
  /** From the acceptance of the run to its end. */
  duration_ms: number;
  /** Known cost of its model calls, in US dollars. */
  cost: number;
}

/** Logs the end of a run at info, unless LOG_RUNS is off. */
export function logRunEnd(run: EndedRun): void {
  if (settings().LOG_RUNS) log.info(run, "run ended");
}
