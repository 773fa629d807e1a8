import { readSkills } from "#server/features/skills/read-skills.ts";
import type { Skill } from "#server/features/skills/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";

/**
 * A skill of the project, or a built-in one.
 * @throws AppError NOT_FOUND, also for a skill of another project
 */
export async function getSkill({ project }: ProjectPrincipal, { skill_id }: { skill_id: string }): Promise<Skill> {
  const [skill] = await readSkills(project.id, [skill_id]);
  if (!skill) throw notFound("skill");
  return skill;
}
