-- What whoever published a version says of it.
ALTER TABLE "workflow_versions" ADD COLUMN "note" TEXT;
