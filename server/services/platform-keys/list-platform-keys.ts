import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { PlatformKey } from "#server/schemas/platform-key.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The caller's keys without their values, newest first. */
export async function listPlatformKeys(principal: Principal, input: PageInput): Promise<Page<PlatformKey>> {
  const where = { user_id: principal.user.id };
  const result = await Promise.all([
    db().platformKey.count({ where }),
    db().platformKey.findMany({ where, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, result, ({ id, name, created_at, last_used_at }) => ({
    id,
    name,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  }));
}
