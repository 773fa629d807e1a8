import { Prisma } from "#prisma/generated/client.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import { builtinSkills } from "#server/features/skills/builtin-skills.ts";
import { readSkills } from "#server/features/skills/service.ts";
import { schemaProblem } from "#server/llm/answer-schema.ts";
import { type ProviderId, providerKind } from "#server/llm/kinds.ts";
import { db } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import type { FieldError } from "#server/shared/error-schema.ts";

/** What an agent has beyond plain answers. */
export type Abilities = Pick<Agent, "tools" | "mcp_server_ids" | "rag_ids" | "skill_ids" | "output_schema">;

/** Whether a call with these abilities offers tools to the model. */
export const hasTools = ({ tools, mcp_server_ids, rag_ids }: Omit<Abilities, "skill_ids" | "output_schema">): boolean =>
  tools.length + mcp_server_ids.length + rag_ids.length > 0;

async function unknownIds(
  path: keyof Abilities,
  what: string,
  ids: readonly string[] | undefined,
  known: (ids: string[]) => Promise<{ id: string }[]>,
): Promise<FieldError[]> {
  if (!ids?.length) return [];
  const found = new Set((await known(ids.filter(isUuid))).map(({ id }) => id));
  return ids.flatMap((id, index) =>
    found.has(id.toLowerCase())
      ? []
      : [
          {
            path: `${path}.${index}`,
            message: `There is no ${what} ${JSON.stringify(id)} in this project. Choose another, or take it out.`,
          },
        ],
  );
}

function toolErrors(after: Abilities, provider: ProviderId): FieldError[] {
  const { label, supportsTools } = providerKind(provider);
  if (supportsTools) return [];
  const message = `Models of ${label} cannot call tools. Send an empty list, or choose a key of another provider.`;
  return (["tools", "mcp_server_ids", "rag_ids"] as const).filter((path) => after[path].length > 0).map((path) => ({ path, message }));
}

function schemaErrors({ output_schema }: Partial<Abilities>): FieldError[] {
  if (!output_schema) return [];
  const message = schemaProblem(output_schema);
  return message ? [{ path: "output_schema", message }] : [];
}

/**
 * What an agent may not have: resources that are not in the project, tools on a kind without tool calling, a schema that
 * answers cannot be checked against.
 * @param given what the call sets
 * @param after what the agent would have then
 */
export async function checkAbilities(
  project_id: string,
  given: Partial<Abilities>,
  after: Abilities,
  provider: ProviderId,
): Promise<FieldError[]> {
  const select = { id: true } as const;
  const unknown = await Promise.all([
    unknownIds("mcp_server_ids", "MCP server", given.mcp_server_ids, (ids) =>
      db().mcpServer.findMany({ where: { project_id, id: { in: ids } }, select }),
    ),
    unknownIds("rag_ids", "RAG source", given.rag_ids, (ids) =>
      db().ragSource.findMany({ where: { project_id, id: { in: ids } }, select }),
    ),
    unknownIds("skill_ids", "skill", given.skill_ids, (ids) => readSkills(project_id, ids)),
  ]);
  return [...unknown.flat(), ...toolErrors(after, provider), ...schemaErrors(given)];
}

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
  throw invalidField("skill_ids", "A skill was deleted in this moment. Choose the skills again.");
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
