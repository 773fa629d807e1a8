import { pool } from "#server/db/client.ts";

/** How many deliveries a workflow keeps with their bodies. */
const KEPT = 100;
/** How long a sender's delivery id is remembered at least, in days: senders repeat for some days. */
const REMEMBERED_DAYS = 7;

/**
 * Keeps the newest 100 deliveries of each workflow. Of older ones only those stay whose id a sender may still repeat,
 * without their bodies.
 */
export async function tidyDeliveries(): Promise<void> {
  await pool().query(
    `WITH ranked AS (
       SELECT id, row_number() OVER (PARTITION BY workflow_id ORDER BY id DESC) > ${KEPT} AS is_old FROM webhook_deliveries
     ), emptied AS (
       UPDATE webhook_deliveries d SET body = NULL FROM ranked
       WHERE ranked.id = d.id AND is_old AND body IS NOT NULL AND delivery_key IS NOT NULL AND received_at >= now() - interval '${REMEMBERED_DAYS} days'
     )
     DELETE FROM webhook_deliveries d USING ranked
     WHERE ranked.id = d.id AND is_old AND (delivery_key IS NULL OR received_at < now() - interval '${REMEMBERED_DAYS} days')`,
  );
}
