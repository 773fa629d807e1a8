-- What was said by reserved names of handles is said by columns.
ALTER TABLE "node_runs" ADD COLUMN "is_interrupted" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN "is_cut_off" BOOLEAN NOT NULL DEFAULT false;

UPDATE "node_runs" SET "is_interrupted" = true, "handle" = NULL WHERE "handle" = 'interrupted' AND "status" = 'failed';

UPDATE "node_runs" SET "is_cut_off" = true, "handle" = NULL WHERE "handle" = 'cut_off' AND "status" = 'complete';
