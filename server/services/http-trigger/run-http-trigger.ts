import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError, notFound } from "#server/errors.ts";
import { isFinal } from "#server/schemas/execution.ts";
import type { HttpTriggerResult } from "#server/schemas/http-trigger.ts";
import { assertRunnable } from "#server/services/executions/assert-runnable.ts";
import { startExecution } from "#server/services/executions/start-execution.ts";
import { startAndFollow } from "#server/services/http-trigger/follow-to-end.ts";
import type { SavedWorkflow } from "#server/services/workflows/saved-workflow.ts";

/** How long a synchronous call waits, in milliseconds (contract, section 4). */
const WAIT_MS = 60_000;

/**
 * Makes sure that a workflow may be started by this call.
 * @throws AppError NOT_FOUND in another project; VALIDATION_ERROR for another kind of trigger; CONFLICT when disabled
 */
export function assertHttpTrigger({ project }: ProjectPrincipal, { project_id, trigger, enabled }: SavedWorkflow): void {
  if (project_id !== project.id) throw notFound("workflow");
  if (trigger.kind !== "http")
    throw new AppError(
      "VALIDATION_ERROR",
      "This workflow's trigger is not HTTP. Choose HTTP in its trigger node and save, or use its execute endpoint.",
    );
  if (!enabled) throw new AppError("CONFLICT", "This workflow is disabled. Enable it, then call again.");
}

/**
 * Starts the saved version with a call as its input, and waits for the result when the trigger says so.
 * @param input method, headers, query and body as JSON
 * @param signal ends the wait, not the run
 * @returns with `output` when the run has ended; without when the caller has to look for it later
 * @throws AppError VALIDATION_ERROR when the graph has problems; RATE_LIMIT_EXCEEDED when the hour is used up
 */
export async function runHttpTrigger(
  principal: ProjectPrincipal,
  workflow: SavedWorkflow,
  input: string,
  signal: AbortSignal,
  waitMs = WAIT_MS,
): Promise<HttpTriggerResult> {
  assertHttpTrigger(principal, workflow);
  const { project_id, id: workflow_id, snapshot_id, version: workflow_version, graph, agents } = workflow;
  const names = await assertRunnable(project_id, graph, agents);
  const started_by_id = principal.user.id;
  const execution = {
    project_id,
    workflow_id,
    workflow_version,
    snapshot_id,
    graph,
    names,
    trigger: "http",
    started_by_id,
    input,
    params: null,
  } as const;
  if (workflow.trigger.response_mode === "async") return startExecution(execution);
  const { execution_id, status, output, error } = await startAndFollow(execution, waitMs, signal);
  return isFinal(status) ? { execution_id, status, output, ...(error !== null && { error }) } : { execution_id, status };
}
