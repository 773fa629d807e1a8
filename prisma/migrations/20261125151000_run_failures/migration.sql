-- Who asks for it gets an e-mail when runs fail
ALTER TABLE "users" ADD COLUMN "notify_run_failed" BOOLEAN NOT NULL DEFAULT false;
