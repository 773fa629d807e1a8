import { z } from "zod";
import { Id, Name, pageOf, TimeInput, Timestamp } from "#server/shared/primitives-schema.ts";

export const KeyScope = z.enum(["read", "run", "write"]).meta({
  id: "KeyScope",
  description:
    "read: everything that only reads. run: starting, cancelling, repeating and deciding runs, asking agents. write: every other change. None of them includes another",
  example: "read",
});
export type KeyScope = z.infer<typeof KeyScope>;

export const PlatformKey = z
  .object({
    id: Id,
    name: z.string().meta({ example: "Laptop" }),
    prefix: z.string().nullable().meta({
      description: "How the key begins; null for one that was made before this was kept",
      example: "sk-service-Xk3v9Q",
    }),
    scopes: z.array(KeyScope).meta({ description: "What it may do of what you may", example: ["read", "run"] }),
    project_ids: z.array(Id).nullable().meta({ description: "The projects that it opens; null: all of yours", example: null }),
    expires_at: Timestamp.nullable().meta({ description: "From then on it is refused; null: never", example: "2027-02-20T08:00:00.000Z" }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable().meta({ description: "To about a minute; null until it is used", example: null }),
    last_used_ip: z.string().nullable().meta({ description: "The address that used it then", example: "203.0.113.7" }),
  })
  .meta({ id: "PlatformKey" });
export type PlatformKey = z.infer<typeof PlatformKey>;

const isUnique = (values: readonly string[]) => new Set(values).size === values.length;

export const CreatePlatformKeyInput = z.strictObject({
  name: Name.meta({ example: "Laptop" }),
  expires_at: TimeInput.nullable().optional().meta({
    description:
      "Time in the future: a date-time with an offset, or a date, at whose end in UTC the key expires; null: never. Left out: never, or when the key that you send expires",
    example: "2027-02-20T08:00:00.000Z",
  }),
  scopes: z
    .array(KeyScope)
    .min(1, "Give at least one scope.")
    .max(3)
    .refine(isUnique, "Name each scope once.")
    .optional()
    .meta({ description: "Left out: all, or those of the key that you send", example: ["read", "run"] }),
  project_ids: z
    .array(Id)
    .min(1, "Name at least one project, or leave the field out for all of them.")
    .max(100)
    .refine(isUnique, "Name each project once.")
    .nullable()
    .optional()
    .meta({ description: "The projects that it opens; null or left out: all of yours", example: null }),
});
export type CreatePlatformKeyInput = z.infer<typeof CreatePlatformKeyInput>;
export const CreatedPlatformKey = PlatformKey.extend({
  key: z.string().meta({ description: "The key, sk-service-…; shown this once", example: "sk-service-…" }),
}).meta({ id: "CreatedPlatformKey" });
export const PlatformKeyPage = pageOf(PlatformKey);
export const PlatformKeyRef = z.strictObject({ key_id: Id });
