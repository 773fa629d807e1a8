-- Called by the statement that ends a run which widgets read. As a part of that statement it was prepared for all others too.
CREATE FUNCTION queue_for_readings(run uuid, workflow uuid) RETURNS void LANGUAGE sql VOLATILE AS $$
  WITH queued AS (
    INSERT INTO reading_queue (execution_id, workflow_id) VALUES (run, workflow) ON CONFLICT DO NOTHING RETURNING execution_id
  )
  SELECT pg_notify('treadle_reading', '') FROM queued
$$;
