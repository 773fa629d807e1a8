import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { CreateSkillInput, Skill } from "#server/schemas/skill.ts";
import { saveSkill } from "#server/services/skills/save-skill.ts";

/**
 * Makes a skill of the project.
 * @throws AppError CONFLICT for a name that is taken
 */
export function createSkill(principal: ProjectPrincipal, { name, description, prompt, model }: CreateSkillInput): Promise<Skill> {
  const data = { project_id: principal.project.id, name, description, prompt, model: model || null };
  return saveSkill(principal, "skill.create", name, (tx) => tx.skill.create({ data }));
}
