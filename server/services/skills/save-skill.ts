import type { Prisma, Skill as SkillRow } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { Skill } from "#server/schemas/skill.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";
import { builtinSkills } from "#server/services/skills/builtin-skills.ts";
import { toSkill } from "#server/services/skills/skill-dto.ts";

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
