-- A canvas may have one link that shows it to whoever has it, until the link ends. Of its token only the hash is kept.
ALTER TABLE "canvases"
  ADD COLUMN "share_token_hash" TEXT,
  ADD COLUMN "shared_at" TIMESTAMPTZ(3),
  ADD COLUMN "share_expires_at" TIMESTAMPTZ(3);
CREATE UNIQUE INDEX "canvases_share_token_hash_key" ON "canvases"("share_token_hash");
