import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { UpdateProfileInput, UserProfile } from "#server/schemas/identity.ts";
import { recordAuditEverywhere } from "#server/services/audit/record-audit.ts";
import { getProfile } from "#server/services/identity/get-profile.ts";

/** Changes the caller's name. */
export async function updateProfile(principal: Principal, { name }: z.infer<typeof UpdateProfileInput>): Promise<UserProfile> {
  const { id, email, name: before } = principal.user;
  await db().$transaction(async (tx) => {
    await tx.user.update({ where: { id }, data: { name } });
    const record = { action: "account.update", resource_type: "account", resource_id: id, resource_name: email };
    await recordAuditEverywhere(tx, principal, { ...record, detail: { name, before } });
  });
  return getProfile(principal);
}
