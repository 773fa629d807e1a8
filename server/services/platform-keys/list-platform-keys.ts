import { projectLimit } from "#server/auth/key-rights.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { PlatformKey } from "#server/schemas/platform-key.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { toPlatformKey } from "#server/services/platform-keys/platform-key-dto.ts";

/** The caller's keys without their values, newest first. A key for some projects sees no other than itself. */
export async function listPlatformKeys(principal: Principal, input: PageInput): Promise<Page<PlatformKey>> {
  const { user, auth } = principal;
  const isConfined = auth.type === "platform_key" && projectLimit(principal) !== null;
  const where = { user_id: user.id, ...(isConfined && { id: auth.key_id }) };
  const rows = db().platformKey.findMany({ where, orderBy: { id: "desc" }, omit: { key_hash: true }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().platformKey.count({ where }), rows]), toPlatformKey);
}
