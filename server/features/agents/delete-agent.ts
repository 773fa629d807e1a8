import { findAgent } from "#server/features/agents/find-agent.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { deleteResource, namesInUse } from "#server/platform/names-in-use.ts";

async function agentInUse(project_id: string, agent_id: string): Promise<string | undefined> {
  const where = { project_id, deleted_at: null, agent_uses: { some: { agent_id } } };
  const workflows = await db().workflow.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return workflows.length ? `The agent is used in ${namesInUse("workflow", workflows)}. Take it out there first.` : undefined;
}

/**
 * Deletes an agent of the project. Runs that used it keep their results.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows that use it
 */
export async function deleteAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<void> {
  const project_id = principal.project.id;
  const { id, name } = await findAgent(project_id, agent_id);
  const record = { action: "agent.delete", resource_type: "agent", resource_id: id, resource_name: name };
  await deleteResource(
    principal,
    "agent",
    record,
    (tx) => tx.agent.deleteMany({ where: { id } }),
    () => agentInUse(project_id, id),
  );
}
