import { workflowsReading } from "#server/features/credentials/credential-uses.ts";
import { findCredential } from "#server/features/credentials/find-credential.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { deleteResource, namesInUse } from "#server/platform/names-in-use.ts";

async function credentialInUse(project_id: string, name: string): Promise<string | undefined> {
  const workflows = await workflowsReading(project_id, name);
  if (!workflows.length) return undefined;
  return `The credential is read in ${namesInUse("workflow", workflows)}. Take it out there first, or give it a new value in the settings.`;
}

/**
 * Deletes a credential of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the workflows which read it, saved or in a draft
 */
export async function deleteCredential(principal: ProjectPrincipal, { cred_id }: { cred_id: string }): Promise<void> {
  const { id, name } = await findCredential(principal, cred_id);
  const record = { action: "credential.delete", resource_type: "credential", resource_id: id, resource_name: name };
  await deleteResource(
    principal,
    "credential",
    record,
    (tx) => tx.credential.deleteMany({ where: { id } }),
    () => credentialInUse(principal.project.id, name),
  );
}
