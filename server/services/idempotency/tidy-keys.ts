import { pool } from "#server/db/client.ts";

/** Removes Idempotency-Keys that are no longer remembered. */
export async function tidyKeys(): Promise<void> {
  await pool().query("DELETE FROM idempotency_keys WHERE expires_at <= now()");
}
