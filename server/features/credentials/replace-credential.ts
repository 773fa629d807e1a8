import { toCredential } from "#server/features/credentials/credential-dto.ts";
import { findCredential } from "#server/features/credentials/find-credential.ts";
import type { Credential, ReplaceCredentialInput } from "#server/features/credentials/schema.ts";
import { checkSearchAddress } from "#server/features/credentials/search-credentials.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";
import { saveResource } from "#server/platform/names-in-use.ts";
import { seal } from "#server/platform/secrets.ts";

/**
 * Gives a credential a new value, so that a secret can change while workflows name it.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for an address of a search service that is out of reach
 */
export async function replaceCredential(principal: ProjectPrincipal, { cred_id, value }: ReplaceCredentialInput): Promise<Credential> {
  const credential = await findCredential(principal, cred_id);
  const private_allowed = await checkSearchAddress(principal, credential.name, value);
  const record = { what: "a credential", name: credential.name, action: "credential.update", resource_type: "credential" };
  await saveResource(principal, record, async (tx) => {
    const { count } = await tx.credential.updateMany({
      where: { id: credential.id },
      data: { sealed_value: seal(value), private_allowed },
    });
    if (count === 0) throw notFound("credential");
    return credential;
  });
  return toCredential(credential);
}
