import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { PlatformKeyRef } from "#server/schemas/platform-key.ts";
import { isUuid } from "#server/services/ids.ts";
import { auditPlatformKey } from "#server/services/platform-keys/audit-platform-key.ts";

/** Ends a key of the caller; the next request with it is refused. @throws AppError NOT_FOUND, for somebody else's key too */
export async function deletePlatformKey(principal: Principal, { key_id }: z.infer<typeof PlatformKeyRef>): Promise<void> {
  await db().$transaction(async (tx) => {
    const where = { id: key_id, user_id: principal.user.id };
    const key = isUuid(key_id) ? await tx.platformKey.findFirst({ where, select: { id: true, name: true } }) : null;
    // Of two deletions at once, the second finds nothing left to delete.
    const { count } = key ? await tx.platformKey.deleteMany({ where }) : { count: 0 };
    if (!key || count === 0) throw new AppError("NOT_FOUND", "There is no such API key among yours.");
    await auditPlatformKey(tx, principal, "platform_key.delete", key);
  });
}
