-- The newest request of an Inngest server that has claimed a run. Older ones end, newer ones may claim it.
ALTER TABLE "executions" ADD COLUMN "claimed_dispatch" INTEGER NOT NULL DEFAULT -1;

-- Until now only the newest request that was counted acted for a run that had begun.
UPDATE "executions" SET "claimed_dispatch" = "dispatch" WHERE "completed_at" IS NULL AND "lease_epoch" > 0;
