import { shownFields, toCredential } from "#server/features/credentials/credential-dto.ts";
import type { CreateCredentialInput, Credential } from "#server/features/credentials/schema.ts";
import { checkSearchAddress } from "#server/features/credentials/search-credentials.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isUniqueViolation } from "#server/platform/errors.ts";
import { seal } from "#server/platform/secrets.ts";

/**
 * Stores a credential, encrypted.
 * @throws AppError CONFLICT for a name that is taken; VALIDATION_ERROR for an address of a search service that is out of reach
 */
export async function createCredential(principal: ProjectPrincipal, { name, value }: CreateCredentialInput): Promise<Credential> {
  const private_allowed = await checkSearchAddress(principal, name, value);
  try {
    return await db().$transaction(async (tx) => {
      const row = await tx.credential.create({
        data: { project_id: principal.project.id, name, sealed_value: seal(value), private_allowed, created_by_id: principal.user.id },
        select: shownFields,
      });
      await recordAudit(
        principal,
        { action: "credential.create", resource_type: "credential", resource_id: row.id, resource_name: name },
        tx,
      );
      return toCredential(row);
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError("CONFLICT", `The project already has a credential named "${name}". Choose another name, or delete that one first.`);
  }
}
