import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Execution } from "#server/schemas/execution.ts";
import { getExecutionView } from "#server/services/executions/get-execution-view.ts";

/**
 * One execution with the result of every node.
 * @throws AppError NOT_FOUND
 */
export const getExecution = async (principal: ProjectPrincipal, input: { execution_id: string }): Promise<Execution> =>
  (await getExecutionView(principal, input)).execution;
