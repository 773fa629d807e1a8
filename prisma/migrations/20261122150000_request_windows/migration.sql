-- CreateTable
CREATE UNLOGGED TABLE "request_windows" (
    "client" VARCHAR(100) NOT NULL,
    "times" BIGINT[] DEFAULT ARRAY[]::BIGINT[],
    "is_allowed" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "request_windows_pkey" PRIMARY KEY ("client")
);
