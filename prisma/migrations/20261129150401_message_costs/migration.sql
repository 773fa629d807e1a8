-- Runs that were started for a message of the assistant spend from the message, with the runs that they start in turn.
ALTER TABLE "executions" ADD COLUMN "assistant_message_id" UUID;

CREATE INDEX "executions_assistant_message_id_idx" ON "executions"("assistant_message_id") WHERE (assistant_message_id IS NOT NULL);

-- As with budgets: the estimate of each call under way is held, and settled with what the call cost.
ALTER TABLE "assistant_messages"
  ADD COLUMN "spent" DECIMAL(24,12) NOT NULL DEFAULT 0,
  ADD COLUMN "held" DECIMAL(24,12) NOT NULL DEFAULT 0;

UPDATE "assistant_messages" SET "spent" = "cost" WHERE "cost" IS NOT NULL AND "status" IN ('queued', 'working', 'waiting');
