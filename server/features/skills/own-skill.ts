import { getSkill } from "#server/features/skills/get-skill.ts";
import type { Skill } from "#server/features/skills/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError } from "#server/platform/errors.ts";

/**
 * A skill that the project may change.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in one
 */
export async function ownSkill(principal: ProjectPrincipal, skill_id: string): Promise<Skill> {
  const skill = await getSkill(principal, { skill_id });
  if (skill.source === "builtin") throw new AppError("CONFLICT", "Built-in skills stay as they are. Make a copy, and change that.");
  return skill;
}
