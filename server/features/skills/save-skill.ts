import type { Prisma, Skill as SkillRow } from "#prisma/generated/client.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { Skill } from "#server/features/skills/schema.ts";
import { toSkill } from "#server/features/skills/skill-dto.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError } from "#server/platform/errors.ts";
import { saveResource } from "#server/platform/names-in-use.ts";

/**
 * Writes a skill of the project and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name that another skill of the project has, or a built-in one
 */
export async function saveSkill(
  principal: ProjectPrincipal,
  action: "skill.create" | "skill.update",
  name: string,
  write: (tx: Prisma.TransactionClient) => Promise<SkillRow>,
): Promise<Skill> {
  if (builtinSkills.some((skill) => skill.name.toLowerCase() === name.toLowerCase()))
    throw new AppError("CONFLICT", `"${name}" is the name of a built-in skill. Choose another name.`);
  return toSkill(await saveResource(principal, { what: "a skill", name, action, resource_type: "skill" }, write));
}
