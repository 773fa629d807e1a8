import { z } from "zod";
import { Id, pageOf, Timestamp } from "#server/shared/primitives-schema.ts";

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

const CredentialValue = z
  .string()
  .trim()
  .min(1, "Give it a value.")
  .max(20_000)
  .meta({ title: "Value", description: "Stored encrypted, never shown again; white space around it is dropped", example: "ghp_9f2c" });

export const CreateCredentialInput = z.strictObject({ name: CredentialName, value: CredentialValue });
export type CreateCredentialInput = z.infer<typeof CreateCredentialInput>;
export const CredentialRef = z.strictObject({ cred_id: Id });
export const CredentialPage = pageOf(Credential);

/** For the web UI: a new value under the same name. Not part of the REST API. */
export const ReplaceCredentialInput = z.strictObject({ cred_id: Id, value: CredentialValue });
export type ReplaceCredentialInput = z.infer<typeof ReplaceCredentialInput>;
