import { z } from "zod";
import { auditResources } from "#server/shared/audit-actions.ts";
import { Id, pageOf, pageQuery, searchQuery, TimeInput, Timestamp } from "#server/shared/primitives-schema.ts";

export const AuditResource = z.enum(auditResources);
export type AuditResource = z.infer<typeof AuditResource>;

export const AuditEntry = z
  .object({
    id: Id,
    created_at: Timestamp,
    actor: z.object({
      id: Id.nullable().meta({ description: "null for an address that decided a review by a link and has no account" }),
      email: z.string().meta({ description: "Email address at the time", example: "ada@example.com" }),
    }),
    via: z.enum(["session", "platform_key", "email", "assistant", "system"]).meta({
      description:
        "session: the web app; platform_key: the API; email: a link in a mail; assistant: the assistant, asked by the actor; system: the service itself",
    }),
    action: z.string().meta({ description: "Resource and verb", example: "workflow.update" }),
    resource_type: z.string().meta({ example: "workflow" }),
    resource_id: z.string().meta({ example: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" }),
    resource_name: z.string().meta({ description: "Name at the time", example: "Daily digest" }),
    detail: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "What changed; never a secret", example: { version: 4 } }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;
export const AuditPage = pageOf(AuditEntry);

export const ListAuditInput = z.strictObject({
  ...pageQuery,
  ...searchQuery,
  actor: Id.optional().meta({ description: "User id: only what this user did" }),
  resource_type: AuditResource.optional().meta({ description: "Only this kind of resource" }),
  resource_id: z.string().min(1).max(200).optional().meta({ description: "Only this resource" }),
  action: z.string().min(1).max(60).optional().meta({ description: "Only this action, such as workflow.update" }),
  from: TimeInput.optional().meta({
    description: "Not before this time: a date-time with an offset, or a date, which counts from the start of its UTC day",
    example: "2026-11-01T00:00:00Z",
  }),
  to: TimeInput.optional().meta({
    description: "Before this time: a date-time with an offset, or a date, which counts to the end of its UTC day",
    example: "2026-12-01T00:00:00Z",
  }),
});
export type ListAuditInput = z.infer<typeof ListAuditInput>;

/** Who stands in the log, for the filter of the web UI. Not part of the REST API. */
export const AuditActors = z.array(z.object({ id: Id, email: z.string() }));
export type AuditActors = z.infer<typeof AuditActors>;
