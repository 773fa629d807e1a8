import { z } from "zod";
import { Id, Timestamp } from "#server/shared/primitives-schema.ts";
import { WebhookAuth } from "#server/workflow/nodes/trigger-node.ts";

export const WebhookRef = z.strictObject({ workflow_id: Id });
export type WebhookRef = z.infer<typeof WebhookRef>;

export const SetupWebhookInput = WebhookRef.extend({
  webhook_secret: z
    .string()
    .min(8)
    .max(500)
    .regex(/^[!-~](?:[ -~]*[!-~])?$/, "Use printable ASCII characters, without spaces around them.")
    .optional()
    .meta({
      description: "The sender's own secret, where the sender makes it (Stripe, Slack); left out, one is made",
      example: "signing-secret-of-the-sender",
    }),
});
export type SetupWebhookInput = z.infer<typeof SetupWebhookInput>;

export const WebhookSetup = z
  .object({
    webhook_url: z.string().meta({
      description: "Where the sender posts to",
      example: "https://treadle.example/api/v1/webhooks/019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10",
    }),
    webhook_secret: z.string().meta({
      description: "The secret that the sender proves itself by, by default the key of its HMAC-SHA256 signature; shown only now",
      example: "whsec_9f2c",
    }),
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

/** A call that somebody listened for; what is secret in it is masked. */
export const HeardCall = z.object({
  received_at: Timestamp,
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  input: z.string().nullable().meta({ description: "What the trigger gave of it; null when it could give nothing" }),
});
export type HeardCall = z.infer<typeof HeardCall>;

export const ListenInput = WebhookRef.extend({ is_on: z.boolean() });

/** The webhook of a workflow as the editor shows it. Not part of the REST API. */
export const WebhookState = z.object({
  webhook_url: z.string(),
  has_secret: z.boolean(),
  rotated_at: Timestamp.nullable(),
  auth: WebhookAuth.meta({ description: "Of the saved trigger" }),
  listens_until: Timestamp.nullable().meta({ description: "End of the wait for the next call; null when none waits" }),
  heard: HeardCall.nullable().meta({ description: "The last call that was listened for" }),
  deliveries: z.array(WebhookDelivery).meta({ description: "The newest 20" }),
});
export type WebhookState = z.infer<typeof WebhookState>;

export const ReplayDeliveryInput = z.strictObject({ delivery_id: Id });
export type ReplayDeliveryInput = z.infer<typeof ReplayDeliveryInput>;
