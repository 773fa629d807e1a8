import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { askedProject, type Membership, membershipsOf, membershipValues } from "#server/platform/auth/project-of.ts";
import { clientAddress } from "#server/platform/auth/request-origin.ts";
import { sessionPrincipal } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { readTogether } from "#server/platform/db/read-together.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { sha256 } from "#server/platform/secrets.ts";

const TOUCH_EVERY_MS = 60_000;

/** Who asks, and for `projectOf` the memberships that the request may mean, where they were found with it. */
interface Asker {
  principal: Principal;
  memberships?: Membership[];
}

// In SQL and in one statement, because every call of the API with a key asks this.
const BY_KEY = {
  name: "principal-by-key",
  text: `SELECT k.id AS key_id, k.last_used_at, k.scopes, k.project_ids, k.expires_at, u.id AS user_id, u.email, u.name AS user_name, m.*
         FROM platform_keys k JOIN users u ON u.id = k.user_id LEFT JOIN LATERAL (${membershipsOf("u.id", "k.project_ids")}) m ON true
         WHERE k.key_hash = $1`,
};
/** One for each membership, and one with nulls in its place when there is none. */
type KeyRow = {
  key_id: string;
  last_used_at: Date | null;
  scopes: KeyScope[] | null;
  project_ids: string[] | null;
  expires_at: Date | null;
  user_id: string;
  email: string;
  user_name: string;
} & (Membership | Record<keyof Membership, null>);

/** Where a request came from, for the owner of the key; null when it did not come through the front. */
function addressFor(headers: Headers): string | null {
  const address = clientAddress(headers);
  return address === "unknown" ? null : address;
}

/**
 * The owner of a platform key, or null. Looked up by hash, so how long it takes tells nothing about keys that exist.
 * @throws AppError AUTH_REQUIRED for a key that has expired
 */
async function keyAsker(key: string, headers: Headers): Promise<Asker | null> {
  if (!key.startsWith("sk-service-")) return null;
  const rows = await readTogether<KeyRow>({ ...BY_KEY, values: [sha256(key), ...membershipValues(askedProject(headers))] });
  const [row] = rows;
  if (!row) return null;
  if (row.expires_at && row.expires_at <= new Date())
    throw new AppError("AUTH_REQUIRED", `This API key expired at ${row.expires_at.toISOString()}. Make a new one in Settings, API keys.`);
  const stale = new Date(Date.now() - TOUCH_EVERY_MS);
  if (!row.last_used_at || row.last_used_at < stale) {
    // The condition is repeated in the statement: of many requests at once, one writes. A key deleted meanwhile is no error.
    await db()
      .platformKey.updateMany({
        where: { id: row.key_id, OR: [{ last_used_at: null }, { last_used_at: { lt: stale } }] },
        data: { last_used_at: new Date(), last_used_ip: addressFor(headers) },
      })
      .catch((err: unknown) => log.warn({ err }, "last use of a platform key was not recorded"));
  }
  const principal: Principal = {
    user: { id: row.user_id, email: row.email, name: row.user_name },
    auth: {
      type: "platform_key",
      key_id: row.key_id,
      scopes: row.scopes ?? [],
      project_ids: row.project_ids?.length ? row.project_ids : null,
      expires_at: row.expires_at,
    },
  };
  const memberships = rows.flatMap(({ role, id, slug, name }) => (id === null ? [] : [{ role, id, slug, name }]));
  return { principal, memberships };
}

/**
 * Who asks: the owner of the platform key in `Authorization: Bearer …`, else of `token`, else the browser session.
 * A key that is sent and not valid is nobody, even in a browser that is signed in.
 * @throws AppError AUTH_REQUIRED for a key that has expired
 * @param token a key that came as `?token=` (event streams only: browsers cannot set headers there)
 */
export async function askerOf(headers: Headers, token?: string | null): Promise<Asker | null> {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (bearer !== undefined) return keyAsker(bearer.trim(), headers);
  if (token) return keyAsker(token, headers);
  const principal = await sessionPrincipal(headers);
  return principal && { principal };
}

/** Who asks, without a project; see `askerOf`. */
export const principalOf = async (headers: Headers, token?: string | null): Promise<Principal | null> =>
  (await askerOf(headers, token))?.principal ?? null;
