import { findAgent } from "#server/features/agents/find-agent.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { namesInUse } from "#server/platform/names-in-use.ts";

/**
 * Deletes an agent of the project. Runs that used it keep their results.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows that use it
 */
export async function deleteAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<void> {
  const agent = await findAgent(principal.project.id, agent_id);
  const workflows = await db().workflow.findMany({
    where: { project_id: principal.project.id, deleted_at: null, agent_uses: { some: { agent_id: agent.id } } },
    select: { name: true },
    orderBy: { name: "asc" },
  });
  if (workflows.length)
    throw new AppError("CONFLICT", `The agent is used in ${namesInUse("workflow", workflows)}. Take it out there first.`);
  await db().$transaction(async (tx) => {
    const { count } = await tx.agent.deleteMany({ where: { id: agent.id } });
    if (count === 0) throw notFound("agent");
    await recordAudit(principal, { action: "agent.delete", resource_type: "agent", resource_id: agent.id, resource_name: agent.name }, tx);
  });
}
