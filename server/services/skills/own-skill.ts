import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError } from "#server/errors.ts";
import type { Skill } from "#server/schemas/skill.ts";
import { getSkill } from "#server/services/skills/get-skill.ts";

/**
 * A skill that the project may change.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in one
 */
export async function ownSkill(principal: ProjectPrincipal, skill_id: string): Promise<Skill> {
  const skill = await getSkill(principal, { skill_id });
  if (skill.source === "builtin") throw new AppError("CONFLICT", "Built-in skills stay as they are. Make a copy, and change that.");
  return skill;
}
