import { ownSkill } from "#server/features/skills/own-skill.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { namesInUse } from "#server/platform/names-in-use.ts";

/**
 * Deletes a skill of the project.
 * @throws AppError NOT_FOUND; CONFLICT for a built-in skill, or naming the agents that have it
 */
export async function deleteSkill(principal: ProjectPrincipal, { skill_id }: { skill_id: string }): Promise<void> {
  const { id, name } = await ownSkill(principal, skill_id);
  await db().$transaction(async (tx) => {
    // agent_skills has no foreign key here, since built-in skills have no row: whoever links a skill locks its row too.
    await tx.$queryRaw`SELECT 1 FROM skills WHERE id = ${id}::uuid FOR UPDATE`;
    const agents = await tx.agent.findMany({
      where: { project_id: principal.project.id, skills: { some: { skill_id: id } } },
      select: { name: true },
      orderBy: { name: "asc" },
    });
    if (agents.length) throw new AppError("CONFLICT", `The skill is used by ${namesInUse("agent", agents)}. Take it out there first.`);
    const { count } = await tx.skill.deleteMany({ where: { id } });
    if (count === 0) throw notFound("skill");
    await recordAudit(principal, { action: "skill.delete", resource_type: "skill", resource_id: id, resource_name: name }, tx);
  });
}
