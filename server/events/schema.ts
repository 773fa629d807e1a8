import { z } from "zod";
import { Timestamp } from "#server/shared/primitives-schema.ts";

/** Why an Inngest server did not take an event. */
export const EventRefusal = z.enum(["no_server", "no_answer", "address", "event_key", "error"]);
export type EventRefusal = z.infer<typeof EventRefusal>;

/** Why a call of `/api/inngest` was not let in. */
export const CallRefusal = z.enum(["unsigned", "signing_key", "clock"]);
export type CallRefusal = z.infer<typeof CallRefusal>;

const Refusal = z.enum([...EventRefusal.options, ...CallRefusal.options]);
export type Refusal = z.infer<typeof Refusal>;

/** What is known of the connection to whatever carries the runs. Without addresses and keys: anybody may ask for it. */
export const ExecutorContact = z.object({
  /** `embedded`: it is part of this process, and there is nothing to tell. */
  kind: z.enum(["embedded", "inngest"]),
  /** One sentence on what is wrong and what to do; null while nothing is known to be. */
  problem: z.string().nullable(),
  /** The last event that the server has taken. */
  event_taken_at: Timestamp.nullable(),
  /** The last call of the server that was let in; it calls every minute. */
  called_at: Timestamp.nullable(),
  last_refusal: z.object({ at: Timestamp, reason: Refusal, detail: z.string() }).nullable(),
});
export type ExecutorContact = z.infer<typeof ExecutorContact>;
