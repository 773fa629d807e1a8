import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { conditionFault } from "#server/engine/conditions.ts";
import type { CheckConditionInput, ConditionCheck } from "#server/schemas/condition.ts";

/** What is wrong with a Python condition, for the editor while it is typed. Reads nothing of the project. */
export const checkCondition = async (
  { project }: ProjectPrincipal,
  { condition }: CheckConditionInput,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConditionCheck> => ({ fault: (await conditionFault(condition, project.id, signal)) ?? null });
