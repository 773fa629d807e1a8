-- A row of a run's results is only written by a statement that has the run's own row, new or locked, and so no foreign key has to look
-- it up again for each of them, which was a quarter of what PostgreSQL spent on a chain of ten. What the keys also did, to delete the
-- results with their run, is done for all runs of a statement at once. See server/decisions/0037.
ALTER TABLE "node_runs" DROP CONSTRAINT "node_runs_execution_id_fkey";
ALTER TABLE "node_run_values" DROP CONSTRAINT "node_run_values_node_run_id_fkey";
ALTER TABLE "execution_events" DROP CONSTRAINT "execution_events_execution_id_fkey";

-- Always by the indexes: a plan may be made while the tables are small, and be kept.
CREATE FUNCTION delete_results_of(runs uuid[]) RETURNS void LANGUAGE sql VOLATILE SET enable_seqscan = off AS $$
  WITH gone AS (DELETE FROM node_runs WHERE execution_id = ANY(runs) RETURNING id),
    told AS (DELETE FROM execution_events WHERE execution_id = ANY(runs))
  DELETE FROM node_run_values WHERE node_run_id IN (SELECT id FROM gone)
$$;

-- What applies migrations takes them apart at each semicolon, also within a function: here one is written as \x3b.
CREATE FUNCTION delete_results_of_deleted() RETURNS trigger LANGUAGE plpgsql AS E'
BEGIN
  PERFORM delete_results_of(ARRAY(SELECT id FROM deleted))\x3b
  RETURN NULL\x3b
END';

CREATE TRIGGER executions_results AFTER DELETE ON executions REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION delete_results_of_deleted();
