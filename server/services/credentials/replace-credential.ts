import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { Credential, ReplaceCredentialInput } from "#server/schemas/credential.ts";
import { seal } from "#server/secrets.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { toCredential } from "#server/services/credentials/credential-dto.ts";
import { findCredential } from "#server/services/credentials/find-credential.ts";
import { checkSearchAddress } from "#server/services/credentials/search-credentials.ts";

/**
 * Gives a credential a new value, so that a secret can change while workflows name it.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for an address of a search service that is out of reach
 */
export async function replaceCredential(principal: ProjectPrincipal, { cred_id, value }: ReplaceCredentialInput): Promise<Credential> {
  const credential = await findCredential(principal, cred_id);
  const private_allowed = await checkSearchAddress(principal, credential.name, value);
  await db().$transaction(async (tx) => {
    const data = { sealed_value: seal(value), private_allowed };
    const { count } = await tx.credential.updateMany({ where: { id: credential.id }, data });
    if (count === 0) throw notFound("credential");
    await recordAudit(
      principal,
      { action: "credential.update", resource_type: "credential", resource_id: credential.id, resource_name: credential.name },
      tx,
    );
  });
  return toCredential(credential);
}
