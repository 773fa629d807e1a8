import { shownFields, toCredential } from "#server/features/credentials/credential-dto.ts";
import type { CreateCredentialInput, Credential } from "#server/features/credentials/schema.ts";
import { checkSearchAddress } from "#server/features/credentials/search-credentials.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { saveResource } from "#server/platform/names-in-use.ts";
import { seal } from "#server/platform/secrets.ts";

/**
 * Stores a credential, encrypted.
 * @throws AppError CONFLICT for a name that is taken; VALIDATION_ERROR for an address of a search service that is out of reach
 */
export async function createCredential(principal: ProjectPrincipal, { name, value }: CreateCredentialInput): Promise<Credential> {
  const private_allowed = await checkSearchAddress(principal, name, value);
  const record = { what: "a credential", name, action: "credential.create", resource_type: "credential" };
  const data = { project_id: principal.project.id, name, sealed_value: seal(value), private_allowed, created_by_id: principal.user.id };
  return toCredential(await saveResource(principal, record, (tx) => tx.credential.create({ data, select: shownFields })));
}
