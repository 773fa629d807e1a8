import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { CreatedPlatformKey, CreatePlatformKeyInput } from "#server/schemas/platform-key.ts";
import { generatePlatformKey, sha256 } from "#server/secrets.ts";
import { auditPlatformKey } from "#server/services/platform-keys/audit-platform-key.ts";

/** Creates a key that acts as the caller. The answer is the only place where the key itself ever stands. */
export async function createPlatformKey(
  principal: Principal,
  { name }: z.infer<typeof CreatePlatformKeyInput>,
): Promise<z.infer<typeof CreatedPlatformKey>> {
  const key = generatePlatformKey();
  return db().$transaction(async (tx) => {
    const row = await tx.platformKey.create({ data: { user_id: principal.user.id, name, key_hash: sha256(key) } });
    await auditPlatformKey(tx, principal, "platform_key.create", row);
    return { id: row.id, name, created_at: row.created_at.toISOString(), last_used_at: null, key };
  });
}
