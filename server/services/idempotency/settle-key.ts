import { pool } from "#server/db/client.ts";
import { seal } from "#server/secrets.ts";
import { type Answer, type Held, HOLD_SECONDS } from "#server/services/idempotency/claim-key.ts";

const KEEP = {
  name: "idempotency-keep",
  text: "UPDATE idempotency_keys SET status = $3, response = $4, held_by = NULL, held_until = NULL WHERE id = $1 AND held_by = $2",
};
const FREE = {
  name: "idempotency-free",
  text: "UPDATE idempotency_keys SET held_by = NULL, held_until = now() WHERE id = $1 AND held_by = $2",
};
const RENEW = {
  name: "idempotency-renew",
  text: `UPDATE idempotency_keys SET held_until = now() + interval '${HOLD_SECONDS} seconds' WHERE id = $1 AND held_by = $2`,
};

/** Keeps the answer for whoever asks again. It is always sealed: a new key or secret may stand in it. */
export async function keepAnswer({ id, held_by }: Held, { status, body }: Answer): Promise<void> {
  await pool().query({ ...KEEP, values: [id, held_by, status, seal(body)] });
}

/** Gives the key back, so that the request may be tried again: it finds the run that this try may have started after all. */
export async function freeKey({ id, held_by }: Held): Promise<void> {
  await pool().query({ ...FREE, values: [id, held_by] });
}

/** Says that the try is still at work. */
export async function renewHold({ id, held_by }: Held): Promise<void> {
  await pool().query({ ...RENEW, values: [id, held_by] });
}
