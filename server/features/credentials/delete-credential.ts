import { workflowsReading } from "#server/features/credentials/credential-uses.ts";
import { findCredential } from "#server/features/credentials/find-credential.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { namesInUse } from "#server/platform/names-in-use.ts";

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
