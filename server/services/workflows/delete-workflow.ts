import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";

/**
 * Deletes a workflow with its schedule and its webhook. Its executions stay readable, and one under way runs to its end.
 * @throws AppError NOT_FOUND
 */
export async function deleteWorkflow(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<void> {
  await db().$transaction(async (tx) => {
    const { name } = await findWorkflow(principal, workflow_id, { name: true }, tx);
    await tx.workflow.update({ where: { id: workflow_id }, data: { deleted_at: new Date() } });
    await tx.schedule.deleteMany({ where: { workflow_id } });
    await tx.webhook.deleteMany({ where: { workflow_id } });
    await tx.workflowAgentUse.deleteMany({ where: { workflow_id } });
    await recordAudit(
      principal,
      { action: "workflow.delete", resource_type: "workflow", resource_id: workflow_id, resource_name: name },
      tx,
    );
  });
}
