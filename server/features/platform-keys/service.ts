import type { z } from "zod";
import { type PlatformKey as PlatformKeyRow, Prisma } from "#prisma/generated/client.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import {
  type CreatedPlatformKey,
  type CreatePlatformKeyInput,
  KeyScope,
  type PlatformKey,
  type PlatformKeyRef,
} from "#server/platform/auth/platform-key-schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { projectLimit } from "#server/platform/auth/rights.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { findPage } from "#server/platform/db/find-page.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged } from "#server/platform/paging.ts";
import { generatePlatformKey, storedPlatformKey } from "#server/platform/secrets.ts";
import type { ListInput, Page } from "#server/shared/primitives-schema.ts";
import { lastInstant } from "#server/shared/time-input.ts";

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

/** A platform key opens every project of its owner, so each of them hears of it. */
export const auditPlatformKey = (
  within: Prisma.TransactionClient,
  principal: Principal,
  action: "platform_key.create" | "platform_key.delete",
  key: { id: string; name: string },
): Promise<void> =>
  recordAuditEverywhere(within, principal, { action, resource_type: "platform_key", resource_id: key.id, resource_name: key.name });

/** The caller's keys without their values, newest first. A key for some projects sees no other than itself. */
export async function listPlatformKeys(principal: Principal, input: ListInput): Promise<Page<PlatformKey>> {
  const { user, auth } = principal;
  const isConfined = auth.type === "platform_key" && projectLimit(principal) !== null;
  const confined = isConfined ? Prisma.sql`x.id = ${auth.key_id}::uuid` : Prisma.sql`true`;
  const from = Prisma.sql`platform_keys x WHERE x.user_id = ${user.id}::uuid AND ${confined}`;
  const { total, ids } = await findPage(input, from, Prisma.sql`concat_ws(' ', x.name, x.prefix)`);
  const rows = await db().platformKey.findMany({ where: { id: { in: ids } }, orderBy: { id: "desc" }, omit: { key_hash: true } });
  return paged(input, [total, rows], toPlatformKey);
}

const beyond = (what: string) =>
  new AppError("PERMISSION_DENIED", `A key cannot make one that ${what} than itself. Make it in Settings, API keys, or ask for less.`);

type Limits = Omit<CreatePlatformKeyInput, "name">;

/** What the new key may do and until when: what was asked, else what the caller has, and never more than that. */
export function limitsFor(
  { auth }: Principal,
  { scopes, expires_at }: Pick<Limits, "scopes" | "expires_at">,
): { scopes: readonly KeyScope[]; expires_at: Date | null } {
  const until = expires_at ? lastInstant(expires_at) : null;
  if (until && until <= new Date())
    throw invalidField("expires_at", "This time is over. Give one to come, or null for a key that does not expire.");
  if (auth.type !== "platform_key") return { scopes: scopes ?? KeyScope.options, expires_at: until };
  if (scopes?.some((scope) => !auth.scopes.includes(scope))) throw beyond("may do more");
  const isLater = expires_at !== undefined && auth.expires_at !== null && (until === null || until > auth.expires_at);
  if (isLater) throw beyond("lasts longer");
  return { scopes: scopes ?? auth.scopes, expires_at: expires_at === undefined ? auth.expires_at : until };
}

/** The projects that the new key opens, all of them the caller's; empty for every one. */
async function projectsFor(principal: Principal, project_ids: Limits["project_ids"]): Promise<string[]> {
  const limit = projectLimit(principal);
  if (!project_ids) return limit ? [...limit] : [];
  if (limit && !project_ids.every((id) => limit.includes(id))) throw beyond("opens more projects");
  const found = await db().membership.count({ where: { user_id: principal.user.id, project_id: { in: project_ids.filter(isUuid) } } });
  if (found < project_ids.length) throw invalidField("project_ids", "You are not in all of these projects. Name only your own.");
  return project_ids;
}

/**
 * Holds the account for the rest of the transaction. Whoever takes it over ends its keys, and must not miss one that is being made.
 * @throws AppError AUTH_REQUIRED when that has just happened
 */
async function holdAsLetIn(tx: Prisma.TransactionClient, { user, auth }: Principal): Promise<void> {
  const [row] = await tx.$queryRaw<
    { password_hash: string | null }[]
  >`SELECT password_hash FROM users WHERE id = ${user.id}::uuid FOR SHARE`;
  const isIn =
    auth.type === "session"
      ? (auth.password_mark === undefined || auth.password_mark === passwordMark(row?.password_hash ?? null)) &&
        (auth.session_id === undefined || (await tx.session.count({ where: { id: auth.session_id, ended_at: { not: null } } })) === 0)
      : auth.type === "platform_key" && (await tx.platformKey.count({ where: { id: auth.key_id } })) > 0;
  if (!isIn) throw new AppError("AUTH_REQUIRED", "The session or key has just ended. Sign in and try again.");
}

/**
 * Creates a key that acts as the caller, within limits. The answer is the only place where the key itself ever stands.
 * @throws AppError VALIDATION_ERROR for a time that is over and for a project that is not the caller's; PERMISSION_DENIED when a
 *   key asks for one with more rights than its own
 */
export async function createPlatformKey(
  principal: Principal,
  { name, project_ids: asked, ...limits }: CreatePlatformKeyInput,
): Promise<z.infer<typeof CreatedPlatformKey>> {
  const { scopes, expires_at } = limitsFor(principal, limits);
  const project_ids = await projectsFor(principal, asked);
  const key = generatePlatformKey();
  return db().$transaction(async (tx) => {
    await holdAsLetIn(tx, principal);
    const row = await tx.platformKey.create({
      data: { user_id: principal.user.id, name, ...storedPlatformKey(key), scopes: [...scopes], project_ids, expires_at },
    });
    await auditPlatformKey(tx, principal, "platform_key.create", row);
    return { ...toPlatformKey(row), key };
  });
}

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
