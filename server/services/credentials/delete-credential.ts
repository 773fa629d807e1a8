import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError, notFound } from "#server/errors.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { workflowsReading } from "#server/services/credentials/credential-uses.ts";
import { findCredential } from "#server/services/credentials/find-credential.ts";
import { namesInUse } from "#server/services/names-in-use.ts";

/**
 * Deletes a credential of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows which read it, saved or in a draft
 */
export async function deleteCredential(principal: ProjectPrincipal, { cred_id }: { cred_id: string }): Promise<void> {
  const credential = await findCredential(principal, cred_id);
  const workflows = await workflowsReading(principal.project.id, credential.name);
  if (workflows.length)
    throw new AppError(
      "CONFLICT",
      `The credential is read in ${namesInUse("workflow", workflows)}. Take it out there first, or give it a new value in the settings.`,
    );
  await db().$transaction(async (tx) => {
    const { count } = await tx.credential.deleteMany({ where: { id: credential.id } });
    if (count === 0) throw notFound("credential");
    await recordAudit(
      principal,
      { action: "credential.delete", resource_type: "credential", resource_id: credential.id, resource_name: credential.name },
      tx,
    );
  });
}
