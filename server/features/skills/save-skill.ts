import type { Prisma, Skill as SkillRow } from "#prisma/generated/client.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import type { Skill } from "#server/features/skills/schema.ts";
import { toSkill } from "#server/features/skills/skill-dto.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isUniqueViolation } from "#server/platform/errors.ts";

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
  try {
    return await db().$transaction(async (tx) => {
      const row = await write(tx);
      await recordAudit(principal, { action, resource_type: "skill", resource_id: row.id, resource_name: row.name }, tx);
      return toSkill(row);
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError("CONFLICT", `The project already has a skill named "${name}". Choose another name.`);
  }
}
