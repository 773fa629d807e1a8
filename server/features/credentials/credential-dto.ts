import type { Credential as CredentialRow } from "#prisma/generated/client.ts";
import type { Credential } from "#server/features/credentials/schema.ts";

/** What a query must select for `toCredential`: the value stays in the database. */
export const shownFields = { id: true, name: true, created_at: true } as const;

/** What the API shows of a credential: never its value. */
export const toCredential = ({ id, name, created_at }: Pick<CredentialRow, keyof typeof shownFields>): Credential => ({
  id,
  name,
  created_at: created_at.toISOString(),
});
