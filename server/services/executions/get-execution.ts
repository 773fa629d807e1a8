import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Execution } from "#server/schemas/execution.ts";
import { executionDto } from "#server/services/executions/execution-dto.ts";
import { findExecution } from "#server/services/executions/find-execution.ts";

/**
 * One execution with the result of every node.
 * @throws AppError NOT_FOUND
 */
export async function getExecution(principal: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<Execution> {
  const { row, graph } = await findExecution(principal, execution_id);
  return executionDto(row, graph);
}
