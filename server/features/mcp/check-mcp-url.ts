import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { judgeAddress } from "#server/platform/chosen-address.ts";
import { AppError } from "#server/platform/errors.ts";

const refuse = (message: string) => new AppError("VALIDATION_ERROR", message, { errors: [{ path: "url", message }] });

/**
 * Refuses an address before anything is called: one with a password in it, and one that the caller may not choose.
 * @returns whether it may lead to a private network, because an install admin chose it
 * @throws AppError VALIDATION_ERROR at `url`
 */
export async function checkMcpUrl(principal: ProjectPrincipal, address: string): Promise<boolean> {
  const url = new URL(address);
  if (url.username || url.password) throw refuse("Leave the user name and password out of the address; use an Authorization header.");
  if (url.hash) throw refuse("Give the address without what follows #.");
  const verdict = await judgeAddress(principal, url);
  if (verdict.refusal !== undefined) throw refuse(verdict.refusal);
  return verdict.private_allowed;
}
