import { randomBytes } from "node:crypto";
import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import { limitsFor, toPlatformKey } from "#server/features/platform-keys/service.ts";
import { endServiceAccounts } from "#server/features/projects/close-access.ts";
import { slugOf } from "#server/features/projects/service.ts";
import type {
  CreatedServiceKey,
  CreateServiceAccountInput,
  CreateServiceKeyInput,
  ListServiceKeysInput,
  ServiceAccount,
  ServiceAccountRef,
  ServiceKeyRef,
  UpdateServiceAccountInput,
} from "#server/features/service-accounts/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { PlatformKey } from "#server/platform/auth/platform-key-schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { generatePlatformKey, storedPlatformKey } from "#server/platform/secrets.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

// A service account is a row of users that belongs to one project: member there in a role, without a password, with API keys that are
// good for that project only. So runs, versions, reviews and the audit log name it as they name people.

const MOST_ACCOUNTS = 50;
const MOST_KEYS = 20;

const shown = {
  memberships: { select: { role: true } },
  _count: { select: { platform_keys: true } },
  platform_keys: { select: { last_used_at: true }, orderBy: { last_used_at: { sort: "desc", nulls: "last" } }, take: 1 },
} satisfies Prisma.UserInclude;
type Row = Prisma.UserGetPayload<{ include: typeof shown }>;

const serviceAccountDto = ({ id, name, email, created_at, made_by_id, memberships, platform_keys, _count }: Row): ServiceAccount => ({
  id,
  name,
  email,
  // Its one membership; none could make it an admin.
  role: (memberships[0]?.role ?? "viewer") as ServiceAccount["role"],
  created_at: created_at.toISOString(),
  created_by_id: made_by_id,
  keys: _count.platform_keys,
  last_used_at: platform_keys[0]?.last_used_at?.toISOString() ?? null,
});

const ofProject = ({ project }: ProjectPrincipal) => ({ service_project_id: project.id, deleted_at: null });

/** An account of the project. @throws AppError NOT_FOUND */
async function find(within: Pick<Prisma.TransactionClient, "user">, admin: ProjectPrincipal, account_id: string): Promise<User> {
  const account = isUuid(account_id) ? await within.user.findFirst({ where: { id: account_id, ...ofProject(admin) } }) : null;
  if (!account) throw new AppError("NOT_FOUND", "There is no such service account in this project.");
  return account;
}

/** Holds an account of the project for the rest of the transaction. @throws AppError NOT_FOUND */
async function held(tx: Prisma.TransactionClient, admin: ProjectPrincipal, account_id: string): Promise<User> {
  if (isUuid(account_id)) await tx.$queryRaw`SELECT id FROM users WHERE id = ${account_id}::uuid FOR UPDATE`;
  return find(tx, admin, account_id);
}

const record = <Verb extends string>({ id, email }: { id: string; email: string }, verb: Verb) =>
  ({
    action: `service_account.${verb}`,
    resource_type: "service_account",
    resource_id: id,
    resource_name: email,
  }) as const;

/** Not within a transaction: that has one connection, and what is shown is read by several queries at once. */
const readAccount = async (id: string): Promise<ServiceAccount> =>
  serviceAccountDto(await db().user.findUniqueOrThrow({ where: { id }, include: shown }));

/** The project's service accounts, newest first. */
export async function listServiceAccounts(admin: ProjectPrincipal, input: PageInput): Promise<Page<ServiceAccount>> {
  const where = ofProject(admin);
  const rows = db().user.findMany({ where, include: shown, orderBy: { id: "desc" }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().user.count({ where }), rows]), serviceAccountDto);
}

/** @throws AppError CONFLICT when the project has as many as it may */
export async function createServiceAccount(
  admin: ProjectPrincipal,
  { name, role }: z.infer<typeof CreateServiceAccountInput>,
): Promise<ServiceAccount> {
  const made = await db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT id FROM projects WHERE id = ${admin.project.id}::uuid FOR UPDATE`;
    if ((await tx.user.count({ where: ofProject(admin) })) >= MOST_ACCOUNTS)
      throw new AppError("CONFLICT", `A project has at most ${MOST_ACCOUNTS} service accounts. Delete one first.`);
    // RFC 2606: nobody can ever receive mail there, so nobody can prove it to be theirs.
    const email = `${slugOf(name)}-${randomBytes(4).toString("hex")}@service.invalid`;
    const memberships = { create: { project_id: admin.project.id, role } };
    const row = await tx.user.create({
      data: { email, name, service_project_id: admin.project.id, made_by_id: admin.user.id, memberships },
    });
    await recordAudit(tx, admin, { ...record(row, "create"), detail: { name, role } });
    return row.id;
  });
  return readAccount(made);
}

/** Changes name or role; the role holds from the next call. @throws AppError NOT_FOUND */
export async function updateServiceAccount(
  admin: ProjectPrincipal,
  { account_id, name, role }: z.infer<typeof UpdateServiceAccountInput>,
): Promise<ServiceAccount> {
  const changed = await db().$transaction(async (tx) => {
    const { id } = await held(tx, admin, account_id);
    if (role !== undefined) await tx.membership.updateMany({ where: { user_id: id, project_id: admin.project.id }, data: { role } });
    const row = await tx.user.update({ where: { id }, data: { ...(name !== undefined && { name }) } });
    const detail = { ...(name !== undefined && { name }), ...(role !== undefined && { role }) };
    await recordAudit(tx, admin, { ...record(row, "update"), detail });
    return id;
  });
  return readAccount(changed);
}

/** Its keys end; the name stays on what it did. @throws AppError NOT_FOUND */
export async function deleteServiceAccount(admin: ProjectPrincipal, { account_id }: z.infer<typeof ServiceAccountRef>): Promise<void> {
  await db().$transaction(async (tx) => {
    const { id, email } = await held(tx, admin, account_id);
    await endServiceAccounts(tx, [id]);
    await recordAudit(tx, admin, record({ id, email }, "delete"));
  });
}

/** The keys of a service account without their values, newest first. @throws AppError NOT_FOUND */
export async function listServiceKeys(
  admin: ProjectPrincipal,
  { account_id, ...page }: z.infer<typeof ListServiceKeysInput>,
): Promise<Page<PlatformKey>> {
  const { id: user_id } = await find(db(), admin, account_id);
  const where = { user_id };
  const rows = db().platformKey.findMany({ where, orderBy: { id: "desc" }, omit: { key_hash: true }, ...pageWindow(page) });
  return paged(page, await Promise.all([db().platformKey.count({ where }), rows]), toPlatformKey);
}

/**
 * Creates a key that acts as the service account. The answer is the only place where the key itself ever stands.
 * @throws AppError NOT_FOUND; CONFLICT when it has as many as it may; VALIDATION_ERROR for a time that is over; PERMISSION_DENIED when a
 *   key asks for one with more rights than its own
 */
export async function createServiceKey(
  admin: ProjectPrincipal,
  { account_id, name, ...limits }: z.infer<typeof CreateServiceKeyInput>,
): Promise<z.infer<typeof CreatedServiceKey>> {
  const { scopes, expires_at } = limitsFor(admin, limits);
  const key = generatePlatformKey();
  return db().$transaction(async (tx) => {
    const account = await held(tx, admin, account_id);
    if ((await tx.platformKey.count({ where: { user_id: account.id } })) >= MOST_KEYS)
      throw new AppError("CONFLICT", `A service account has at most ${MOST_KEYS} API keys. Delete one first.`);
    // For this project alone: with that it does nothing that concerns accounts or the install.
    const project_ids = [admin.project.id];
    const row = await tx.platformKey.create({
      data: { user_id: account.id, name, ...storedPlatformKey(key), scopes: [...scopes], project_ids, expires_at },
    });
    await tx.serviceKeyMaker.create({ data: { key_id: row.id, account_id: account.id, made_by_id: admin.user.id } });
    await recordAudit(tx, admin, { ...record(account, "create_key"), detail: { key_id: row.id, name, scopes: [...scopes] } });
    return { ...toPlatformKey(row), key };
  });
}

/** Ends a key of a service account; the next request with it is refused. @throws AppError NOT_FOUND */
export async function deleteServiceKey(admin: ProjectPrincipal, { account_id, key_id }: z.infer<typeof ServiceKeyRef>): Promise<void> {
  await db().$transaction(async (tx) => {
    const account = await held(tx, admin, account_id);
    const where = { id: key_id, user_id: account.id };
    const key = isUuid(key_id) ? await tx.platformKey.findFirst({ where, select: { name: true } }) : null;
    if (!key) throw new AppError("NOT_FOUND", "This service account has no such API key.");
    await tx.platformKey.deleteMany({ where });
    await recordAudit(tx, admin, { ...record(account, "delete_key"), detail: { key_id, name: key.name } });
  });
}
