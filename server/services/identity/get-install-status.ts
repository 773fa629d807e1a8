import { db } from "#server/db/client.ts";
import type { InstallStatus } from "#server/schemas/identity.ts";
import { settings } from "#server/settings.ts";

/** Whether the install still waits for its first owner, and whether anybody may make an account. */
export async function getInstallStatus(): Promise<InstallStatus> {
  const first = await db().user.findFirst({ where: { deleted_at: null }, select: { id: true } });
  return { is_empty: first === null, signup_open: settings().ALLOW_SIGNUP };
}
