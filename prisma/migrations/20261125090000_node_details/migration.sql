-- What a node leaves behind besides its output: what its code printed, the status and headers of a response.
ALTER TABLE "node_run_values" ADD COLUMN "details" JSONB;
