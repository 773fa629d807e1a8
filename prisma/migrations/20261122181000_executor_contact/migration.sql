-- CreateTable
CREATE TABLE "executor_contact" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "event_taken_at" TIMESTAMPTZ(3),
    "event_refused_at" TIMESTAMPTZ(3),
    "event_refusal" TEXT,
    "call_at" TIMESTAMPTZ(3),
    "call_refused_at" TIMESTAMPTZ(3),
    "call_refusal" TEXT,

    CONSTRAINT "executor_contact_pkey" PRIMARY KEY ("id")
);
