import { z } from "zod";
import { Id, Name, pageOf, Timestamp } from "#server/schemas/primitives.ts";

export const PlatformKey = z
  .object({ id: Id, name: z.string(), created_at: Timestamp, last_used_at: Timestamp.nullable() })
  .meta({ id: "PlatformKey" });
export type PlatformKey = z.infer<typeof PlatformKey>;

export const CreatePlatformKeyInput = z.strictObject({ name: Name });
export const CreatedPlatformKey = PlatformKey.extend({
  key: z.string().meta({ description: "The key, sk-service-…; shown this once", example: "sk-service-…" }),
}).meta({ id: "CreatedPlatformKey" });
export const PlatformKeyPage = pageOf(PlatformKey);
export const PlatformKeyRef = z.strictObject({ key_id: Id });
