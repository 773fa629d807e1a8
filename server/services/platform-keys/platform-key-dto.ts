import type { PlatformKey as PlatformKeyRow } from "#prisma/generated/client.ts";
import { KeyScope, type PlatformKey } from "#server/schemas/platform-key.ts";

/** A key as lists show it: all but the key. */
export const toPlatformKey = (row: Omit<PlatformKeyRow, "key_hash">): PlatformKey => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  scopes: KeyScope.options.filter((scope) => row.scopes.includes(scope)),
  project_ids: row.project_ids.length ? row.project_ids : null,
  expires_at: row.expires_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  last_used_ip: row.last_used_ip,
});
