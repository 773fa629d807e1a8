-- What exactly a person is asked to approve: by the time of the approval it may be another.
ALTER TABLE "assistant_requests" ADD COLUMN "about" TEXT;
