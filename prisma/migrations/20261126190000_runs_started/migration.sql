-- How many runs the nodes of a run have started, with those that these have started: of one that no other has started, where it is bounded.
ALTER TABLE "executions" ADD COLUMN "runs_started" INTEGER NOT NULL DEFAULT 0;
