import { z } from "zod";
import { Id, Name, pageOf, Timestamp } from "#server/schemas/primitives.ts";

export const PlatformKey = z
  .object({
    id: Id,
    name: z.string().meta({ example: "Laptop" }),
    created_at: Timestamp,
    last_used_at: Timestamp.nullable().meta({ description: "To about a minute; null until it is used", example: null }),
  })
  .meta({ id: "PlatformKey" });
export type PlatformKey = z.infer<typeof PlatformKey>;

export const CreatePlatformKeyInput = z.strictObject({ name: Name.meta({ example: "Laptop" }) });
export const CreatedPlatformKey = PlatformKey.extend({
  key: z.string().meta({ description: "The key, sk-service-…; shown this once", example: "sk-service-…" }),
}).meta({ id: "CreatedPlatformKey" });
export const PlatformKeyPage = pageOf(PlatformKey);
export const PlatformKeyRef = z.strictObject({ key_id: Id });
