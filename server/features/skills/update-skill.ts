import { ownSkill } from "#server/features/skills/own-skill.ts";
import { saveSkill } from "#server/features/skills/save-skill.ts";
import type { Skill, UpdateSkillInput } from "#server/features/skills/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";

/**
 * Changes a skill of the project; agents that have it work with the new prompt from their next call on.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in skill, or a name that is taken
 */
export async function updateSkill(principal: ProjectPrincipal, input: UpdateSkillInput): Promise<Skill> {
  const { name, description, prompt, model } = input;
  const { id } = await ownSkill(principal, input.skill_id);
  return saveSkill(principal, "skill.update", name, async (tx) => {
    const data = { name, description, prompt, model: model || null };
    const [row] = await tx.skill.updateManyAndReturn({ where: { id }, data });
    if (!row) throw notFound("skill");
    return row;
  });
}
