-- Waits say whose run is under way: nobody goes through all of them any more.
UPDATE "waits" w SET notified_at = now() FROM "executions" e WHERE e.id = w.id AND w.reason = 'child' AND e.completed_at IS NULL;

DROP INDEX "executions_id_idx";
