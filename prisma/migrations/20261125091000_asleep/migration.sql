-- A run that waits for no person is not paused, so whether it does nothing but wait is said apart from its status.
ALTER TABLE "executions" ADD COLUMN "is_asleep" BOOLEAN NOT NULL DEFAULT false;

UPDATE "executions" SET "is_asleep" = true WHERE "status" = 'paused' AND "lease_until" IS NULL;
