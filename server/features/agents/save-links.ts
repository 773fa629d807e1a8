import { Prisma } from "#prisma/generated/client.ts";
import type { Abilities } from "#server/features/agents/check-abilities.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

const unique = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

const isBuiltin = (id: string): boolean => builtinSkills.some((skill) => skill.id === id);

/**
 * Locks the project's skills among `ids` until the transaction ends: nothing else keeps a skill that is being linked from
 * being deleted, since built-in skills have no row to refer to.
 */
async function holdSkills(tx: Prisma.TransactionClient, project_id: string, ids: string[]): Promise<void> {
  const own = ids.filter((id) => isUuid(id) && !isBuiltin(id));
  if (!own.length) return;
  const held = await tx.$queryRaw<{ id: string }[]>(
    Prisma.sql`SELECT id FROM skills WHERE project_id = ${project_id}::uuid AND id = ANY (${own}::uuid[]) ORDER BY id FOR SHARE`,
  );
  if (held.length === own.length) return;
  const message = "A skill was deleted in this moment. Choose the skills again.";
  throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "skill_ids", message }] });
}

/**
 * Sets what an agent is linked with; a list that is left out stays as it is.
 * @throws AppError VALIDATION_ERROR for a skill deleted meanwhile; a foreign key violation for another resource
 */
export async function saveLinks(
  tx: Prisma.TransactionClient,
  { project_id, agent_id }: { project_id: string; agent_id: string },
  { mcp_server_ids, rag_ids, skill_ids }: Partial<Pick<Abilities, "mcp_server_ids" | "rag_ids" | "skill_ids">>,
): Promise<void> {
  const where = { agent_id };
  if (mcp_server_ids) {
    await tx.agentMcpServer.deleteMany({ where });
    await tx.agentMcpServer.createMany({ data: unique(mcp_server_ids).map((mcp_server_id) => ({ agent_id, mcp_server_id })) });
  }
  if (rag_ids) {
    await tx.agentRagSource.deleteMany({ where });
    await tx.agentRagSource.createMany({ data: unique(rag_ids).map((rag_source_id) => ({ agent_id, rag_source_id })) });
  }
  if (skill_ids) {
    const ids = unique(skill_ids);
    await holdSkills(tx, project_id, ids);
    await tx.agentSkill.deleteMany({ where });
    await tx.agentSkill.createMany({ data: ids.map((skill_id) => ({ agent_id, skill_id })) });
  }
}
