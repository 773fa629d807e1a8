import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { NameVersionInput, WorkflowVersionSummary } from "#server/schemas/workflow-version.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";
import { noSuchVersion } from "#server/services/workflows/get-version.ts";
import { versionDto, versionFields } from "#server/services/workflows/version-dto.ts";

/**
 * Gives a saved version a name, or takes it away. What it runs stays as it is.
 * @throws AppError NOT_FOUND for the workflow or the version
 */
export async function nameVersion(
  principal: ProjectPrincipal,
  { workflow_id, version, name }: NameVersionInput,
): Promise<WorkflowVersionSummary> {
  return db().$transaction(async (tx) => {
    const workflow = await findWorkflow(principal, workflow_id, { name: true, version: true }, tx);
    const { count } = await tx.workflowVersion.updateMany({ where: { workflow_id, version }, data: { name: name || null } });
    if (count === 0) throw noSuchVersion(version);
    const row = await tx.workflowVersion.findUniqueOrThrow({
      where: { workflow_id_version: { workflow_id, version } },
      select: versionFields,
    });
    await recordAudit(
      principal,
      {
        action: "workflow.name_version",
        resource_type: "workflow",
        resource_id: workflow_id,
        resource_name: workflow.name,
        detail: { version, name: row.name },
      },
      tx,
    );
    return versionDto(row, workflow.version);
  });
}
