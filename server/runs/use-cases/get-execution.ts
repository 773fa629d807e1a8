import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import type { Execution } from "#server/runs/schema.ts";
import { executionDto } from "#server/runs/use-cases/execution-dto.ts";
import { findExecution } from "#server/runs/use-cases/find-execution.ts";

/**
 * One execution with the result of every node.
 * @throws AppError NOT_FOUND
 */
export async function getExecution(principal: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<Execution> {
  const { row, graph } = await findExecution(principal, execution_id);
  return executionDto(row, graph);
}
