import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { notFound } from "#server/errors.ts";
import type { Skill, UpdateSkillInput } from "#server/schemas/skill.ts";
import { ownSkill } from "#server/services/skills/own-skill.ts";
import { saveSkill } from "#server/services/skills/save-skill.ts";

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
