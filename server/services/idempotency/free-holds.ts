import { pool } from "#server/db/client.ts";

/**
 * Lets go of every key that a request held. Only for the process that has the database alone, before it answers anybody:
 * whoever held them is dead, and those who ask again would be sent away until the holds run out.
 */
export async function freeHolds(): Promise<void> {
  await pool().query("UPDATE idempotency_keys SET held_until = now() WHERE status IS NULL AND held_until > now()");
}
