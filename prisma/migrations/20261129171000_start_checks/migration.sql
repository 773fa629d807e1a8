-- The release that applied each migration, from this one on. Read by releases older than the database.
CREATE TABLE "migration_releases" (
  "migration" TEXT NOT NULL,
  "release" TEXT NOT NULL,
  "is_breaking" BOOLEAN NOT NULL,
  CONSTRAINT "migration_releases_pkey" PRIMARY KEY ("migration")
);

-- One row: a known text sealed under ENCRYPTION_KEY, read at every start. NULL accepts the key of the next start.
CREATE TABLE "encryption_check" (
  "id" INTEGER NOT NULL DEFAULT 1,
  "sealed" TEXT,
  CONSTRAINT "encryption_check_pkey" PRIMARY KEY ("id")
);
