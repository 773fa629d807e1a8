import { saveSkill } from "#server/features/skills/save-skill.ts";
import type { CreateSkillInput, Skill } from "#server/features/skills/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/**
 * Makes a skill of the project.
 * @throws AppError CONFLICT for a name that is taken
 */
export function createSkill(principal: ProjectPrincipal, { name, description, prompt, model }: CreateSkillInput): Promise<Skill> {
  const data = { project_id: principal.project.id, name, description, prompt, model: model || null };
  return saveSkill(principal, "skill.create", name, (tx) => tx.skill.create({ data }));
}
