import type { Visitor } from "#server/auth/request-origin.ts";
import type { InstallStatus } from "#server/schemas/identity.ts";
import { hasOwner } from "#server/services/identity/insert-first-owner.ts";
import { settings } from "#server/settings.ts";

/** Whether the install still waits for its first owner, and whether anybody may make an account. */
export async function getInstallStatus({ isOnThisMachine }: Visitor): Promise<InstallStatus> {
  return { is_empty: !(await hasOwner()), needs_code: !isOnThisMachine, signup_open: settings().ALLOW_SIGNUP };
}
