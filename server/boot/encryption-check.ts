import { db } from "#server/platform/db/client.ts";
import { seal, unseal } from "#server/platform/secrets.ts";

const KNOWN_TEXT = "treadle";

function canOpen(sealed: string): boolean {
  try {
    unseal(sealed);
    return true;
  } catch {
    return false;
  }
}

/** One stored secret of each kind, for a database from before the check. */
async function storedSecrets(): Promise<string[]> {
  const [key, credential, webhook, factor, source, server] = await Promise.all([
    db().llmKey.findFirst({ select: { sealed_key: true } }),
    db().credential.findFirst({ select: { sealed_value: true } }),
    db().webhook.findFirst({ select: { sealed_secret: true } }),
    db().secondFactor.findFirst({ select: { sealed_secret: true } }),
    db().ragSource.findFirst({ where: { sealed_secrets: { not: null } }, select: { sealed_secrets: true } }),
    db().mcpServer.findFirst({ where: { sealed_headers: { not: null } }, select: { sealed_headers: true } }),
  ]);
  const found = [
    key?.sealed_key,
    credential?.sealed_value,
    webhook?.sealed_secret,
    factor?.sealed_secret,
    source?.sealed_secrets,
    server?.sealed_headers,
  ];
  return found.filter((sealed) => typeof sealed === "string");
}

/**
 * Proves that ENCRYPTION_KEY is the key of the stored secrets, by a known text that the first start seals.
 * @throws Error with one sentence when it is another key
 */
export async function checkEncryptionKey(): Promise<void> {
  const row = await db().encryptionCheck.findUnique({ where: { id: 1 } });
  const stored = row ? [] : await storedSecrets();

  if (stored.length === 0 || stored.some(canOpen)) {
    // Of starts side by side, one seals, and the others are checked against it.
    if (!row) await db().encryptionCheck.createMany({ data: [{ id: 1, sealed: seal(KNOWN_TEXT) }], skipDuplicates: true });
    else if (row.sealed === null) await db().encryptionCheck.updateMany({ where: { sealed: null }, data: { sealed: seal(KNOWN_TEXT) } });

    const { sealed } = await db().encryptionCheck.findUniqueOrThrow({ where: { id: 1 } });
    if (sealed !== null && canOpen(sealed)) return;
  }
  throw new Error(
    "ENCRYPTION_KEY is not the key that the stored secrets of this database are encrypted with. Set it to that key (without DATABASE_URL: restore secrets.json from the backup of this database). The guide, Administration, Back up, says what to do when it is lost.",
  );
}
