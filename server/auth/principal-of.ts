import type { Principal } from "#server/auth/principal.ts";
import { sessionPrincipal } from "#server/auth/session.ts";
import { db, pool } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import { sha256 } from "#server/secrets.ts";

const TOUCH_EVERY_MS = 60_000;

// In SQL, because every call of the API with a key asks this.
const BY_KEY = {
  name: "principal-by-key",
  text: `SELECT k.id, k.last_used_at, u.id AS user_id, u.email, u.name
         FROM platform_keys k JOIN users u ON u.id = k.user_id WHERE k.key_hash = $1`,
};
type KeyRow = { id: string; last_used_at: Date | null; user_id: string; email: string; name: string };

/** The owner of a platform key, or null. Looked up by hash, so how long it takes tells nothing about keys that exist. */
async function keyPrincipal(key: string): Promise<Principal | null> {
  if (!key.startsWith("sk-service-")) return null;
  const { rows } = await pool().query<KeyRow>({ ...BY_KEY, values: [sha256(key)] });
  const [row] = rows;
  if (!row) return null;
  const stale = new Date(Date.now() - TOUCH_EVERY_MS);
  if (!row.last_used_at || row.last_used_at < stale) {
    // The condition is repeated in the statement: of many requests at once, one writes. A key deleted meanwhile is no error.
    await db()
      .platformKey.updateMany({
        where: { id: row.id, OR: [{ last_used_at: null }, { last_used_at: { lt: stale } }] },
        data: { last_used_at: new Date() },
      })
      .catch((err: unknown) => log.warn({ err }, "last use of a platform key was not recorded"));
  }
  return { user: { id: row.user_id, email: row.email, name: row.name }, auth: { type: "platform_key", key_id: row.id } };
}

/**
 * Who asks: the owner of the platform key in `Authorization: Bearer …`, else of `token`, else the browser session.
 * A key that is sent and not valid is nobody, even in a browser that is signed in.
 * @param token a key that came as `?token=` (event streams only: browsers cannot set headers there)
 */
export async function principalOf(headers: Headers, token?: string | null): Promise<Principal | null> {
  const bearer = /^bearer\s+(.*)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined) return keyPrincipal(bearer.trim());
  if (token) return keyPrincipal(token);
  return sessionPrincipal(headers);
}
