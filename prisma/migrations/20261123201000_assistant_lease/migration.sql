-- Whoever works on a message of the assistant renews this while it does. One whose time is over was cut off.
ALTER TABLE "assistant_messages" ADD COLUMN "lease_until" TIMESTAMPTZ(3);
