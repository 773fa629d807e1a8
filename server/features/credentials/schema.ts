import { z } from "zod";
import { Id, ignoredFields, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

export const Credential = z
  .object({ id: Id, name: z.string(), created_at: Timestamp })
  .meta({ id: "Credential", description: "A secret of the project, by name; its value is never shown" });
export type Credential = z.infer<typeof Credential>;

const CredentialName = z
  .string()
  .trim()
  .min(1, "Give it a name.")
  .max(100)
  .regex(/^[A-Za-z0-9_]+$/, "Use letters, digits and underscores only, so that {{credentials.NAME}} can name it.")
  .meta({
    title: "Name",
    description: "Unique in the project; letters, digits and underscores. Expressions read {{credentials.NAME}}",
    example: "GITHUB_TOKEN",
  });

/** Shorter secrets are not masked: replacing them would garble texts (SHORTEST in platform/masking/secret-forms.ts). */
export const MIN_CREDENTIAL_LENGTH = 6;

const CredentialValue = z
  .string()
  .trim()
  .min(
    MIN_CREDENTIAL_LENGTH,
    `Use at least ${MIN_CREDENTIAL_LENGTH} characters. A shorter value cannot be masked where it appears in outputs and logs.`,
  )
  .max(20_000)
  .meta({
    title: "Value",
    description: "Stored encrypted and never returned; 6 to 20,000 characters, surrounding white space is removed",
    example: "ghp_9f2c",
  });

export const CreateCredentialInput = z.strictObject({ name: CredentialName, value: CredentialValue });
export type CreateCredentialInput = z.infer<typeof CreateCredentialInput>;
export const CredentialRef = z.strictObject({ cred_id: Id });
export const CredentialPage = pageOf(Credential);

/** A credential keeps its name, by which workflows read it. */
const changeable = { value: CredentialValue };
export const ReplaceCredentialInput = z.strictObject({
  ...ignoredFields(Credential, changeable),
  cred_id: Id,
  ...z.object(changeable).partial().shape,
});
export type ReplaceCredentialInput = z.infer<typeof ReplaceCredentialInput>;
