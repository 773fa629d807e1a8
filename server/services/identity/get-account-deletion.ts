import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { AccountDeletion } from "#server/schemas/identity.ts";
import { accountProjects } from "#server/services/identity/account-projects.ts";

/** What deleting the caller's account would come to. */
export async function getAccountDeletion({ user }: Principal): Promise<AccountDeletion> {
  const [{ password_hash }, projects] = await Promise.all([
    db().user.findUniqueOrThrow({ where: { id: user.id }, select: { password_hash: true } }),
    accountProjects(db(), user.id),
  ]);
  return { has_password: password_hash !== null, ...projects };
}
