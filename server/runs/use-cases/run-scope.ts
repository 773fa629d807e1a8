import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { keyOfOwnRuns } from "#server/platform/auth/rights.ts";
import type { NewExecution } from "#server/runs/store/create.ts";
import type { RunScope } from "#server/runs/store/executions.ts";

/** Returns the executions that the caller may see; all others do not exist for it. */
export const runScopeOf = (principal: ProjectPrincipal): RunScope => ({
  project_id: principal.project.id,
  key_id: keyOfOwnRuns(principal),
});

/** Returns who starts an execution, as it is stored. */
export const starterOf = (
  principal: ProjectPrincipal,
): Required<Pick<NewExecution, "started_by_id" | "started_by_key_id" | "assistant_message_id">> => ({
  started_by_id: principal.user.id,
  started_by_key_id: keyOfOwnRuns(principal),
  assistant_message_id: (principal.auth.type === "assistant" && principal.auth.message_id) || null,
});
