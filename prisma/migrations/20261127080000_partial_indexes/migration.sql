-- Runs that still have to get their words. Empty once all of them have.
CREATE INDEX "execution_values_wordless_idx" ON "execution_values"("execution_id") WHERE (words IS NULL);

-- Only reviews of which people are still to be reminded: one that was decided before kept its time, and each sweep read past all of those.
DROP INDEX "waits_remind_at_idx";
CREATE INDEX "waits_remind_at_idx" ON "waits"("remind_at") WHERE (remind_at IS NOT NULL AND status = 'waiting');
