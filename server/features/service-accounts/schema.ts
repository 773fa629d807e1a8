import { z } from "zod";
import { CreatedPlatformKey, CreatePlatformKeyInput, PlatformKey } from "#server/platform/auth/platform-key-schema.ts";
import { Id, Name, pageOf, pageQuery, Role, Timestamp } from "#server/shared/primitives-schema.ts";

/** Never admin: members, secrets and the project itself stay with people. */
export const ServiceRole = Role.exclude(["admin"]).meta({ description: "What it may do in the project; never admin", example: "editor" });

/** A program that calls the API in a project, in its own name. */
export const ServiceAccount = z
  .object({
    id: Id,
    name: z.string().meta({ example: "Nightly report" }),
    email: z.string().meta({ description: "Name in the audit log; it receives no email", example: "nightly-report-4f2a@service.invalid" }),
    role: ServiceRole,
    created_at: Timestamp,
    created_by_id: Id.nullable().meta({ description: "User who created it; null for one older than this field", example: null }),
    keys: z.number().int().meta({ description: "How many API keys it has", example: 1 }),
    last_used_at: Timestamp.nullable().meta({ description: "When a key of it was used last, to about a minute", example: null }),
  })
  .meta({ id: "ServiceAccount" });
export type ServiceAccount = z.infer<typeof ServiceAccount>;
export const ServiceAccountPage = pageOf(ServiceAccount);

const ServiceName = Name.meta({ example: "Nightly report" });
export const CreateServiceAccountInput = z.strictObject({ name: ServiceName, role: ServiceRole });
export const ServiceAccountRef = z.strictObject({ account_id: Id });
export const UpdateServiceAccountInput = ServiceAccountRef.extend({ name: ServiceName.optional(), role: ServiceRole.optional() });

export const ServiceKeyPage = pageOf(PlatformKey);
export const ListServiceKeysInput = ServiceAccountRef.extend(pageQuery);
export const CreateServiceKeyInput = CreatePlatformKeyInput.omit({ project_ids: true }).extend(ServiceAccountRef.shape);
export const CreatedServiceKey = CreatedPlatformKey;
export const ServiceKeyRef = ServiceAccountRef.extend({ key_id: Id });
