-- The editor can wait for a webhook's next call, which is kept as what the workflow is tried on
ALTER TABLE "webhooks" ADD COLUMN "listen_until" TIMESTAMPTZ(3),
ADD COLUMN "heard" JSONB;
