import { z } from "zod";
import { Id, Timestamp } from "#server/shared/primitives-schema.ts";

export const WebhookRef = z.strictObject({ workflow_id: Id });

export const WebhookSetup = z
  .object({
    webhook_url: z.string().meta({
      description: "Where the sender posts to",
      example: "https://treadle.example/api/v1/webhooks/019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10",
    }),
    webhook_secret: z.string().meta({ description: "Key of the HMAC-SHA256 signature; shown only now", example: "whsec_9f2c" }),
  })
  .meta({ id: "WebhookSetup" });
export type WebhookSetup = z.infer<typeof WebhookSetup>;

/** What arrived, and what was answered; of what had no good signature only some. */
export const WebhookDelivery = z.object({
  id: Id,
  status: z.number().int().meta({ description: "HTTP status of the answer" }),
  execution_id: Id.nullable(),
  error: z.string().nullable(),
  received_at: Timestamp,
  can_replay: z.boolean().meta({ description: "Whether the whole body was kept" }),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** The webhook of a workflow as the editor shows it. Not part of the REST API. */
export const WebhookState = z.object({
  webhook_url: z.string(),
  has_secret: z.boolean(),
  rotated_at: Timestamp.nullable(),
  deliveries: z.array(WebhookDelivery).meta({ description: "The newest 20" }),
});
export type WebhookState = z.infer<typeof WebhookState>;

export const ReplayDeliveryInput = z.strictObject({ delivery_id: Id });
export type ReplayDeliveryInput = z.infer<typeof ReplayDeliveryInput>;
