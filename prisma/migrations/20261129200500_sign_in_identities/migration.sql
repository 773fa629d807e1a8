-- Who signs in through a service: the person is known by the issuer's own id, and the address only finds the account the first time.
CREATE TABLE "sign_in_identities" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sign_in_identities_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "sign_in_identities_issuer_subject_key" ON "sign_in_identities"("issuer", "subject");
CREATE UNIQUE INDEX "sign_in_identities_user_id_issuer_key" ON "sign_in_identities"("user_id", "issuer");

ALTER TABLE "sign_in_identities" ADD CONSTRAINT "sign_in_identities_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
