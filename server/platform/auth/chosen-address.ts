import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { isInstallAdmin } from "#server/platform/auth/rights.ts";
import { db } from "#server/platform/db/client.ts";
import { AddressRefused, assertReachable, endpointReach, type Reach } from "#server/platform/net/guard.ts";
import { settings } from "#server/platform/settings.ts";

/** Whether an endpoint may be saved, and if so whether calls of it may go to a private network; else why not, as a sentence. */
type Verdict = { private_allowed: boolean; refusal?: undefined } | { refusal: string };

const refusalAt = (url: URL, reach: Reach): Promise<AddressRefused | null> =>
  assertReachable(url, reach).then(
    () => null,
    (error: unknown) => {
      if (error instanceof AddressRefused) return error;
      throw error;
    },
  );

/** Default of PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES: the admins of the only project of an install are trusted with its network. */
async function isOnlyProject(): Promise<boolean> {
  const projects = await db().project.findMany({ where: { deleted_at: null }, select: { id: true }, take: 2 });
  return projects.length === 1;
}

/** Returns why the caller may not save a private address, undefined when they may. */
async function privateRefusal(principal: ProjectPrincipal, host: string): Promise<string | undefined> {
  if (await isInstallAdmin(principal)) return undefined;
  const isOpen = settings().PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES ?? (await isOnlyProject());
  if (!isOpen)
    return `The address ${host} is on a private network, which only install admins can save. Ask one of them to save it here, or to set PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES=1 on the server.`;
  if (principal.role === "admin") return undefined;
  return `The address ${host} is on a private network, which only admins of this project and install admins can save (PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES).`;
}

/**
 * Judges the address of an endpoint that the caller saves or tries. Resolves the host. An address that is public now gets no leave for
 * private networks, even from an install admin: the owner of its name could point it to one later.
 */
export async function judgeAddress(principal: ProjectPrincipal, url: URL): Promise<Verdict> {
  if (!(await refusalAt(url, endpointReach(false)))) return { private_allowed: false };
  const refusal = (await refusalAt(url, endpointReach(true)))?.message ?? (await privateRefusal(principal, url.host));
  return refusal === undefined ? { private_allowed: true } : { refusal };
}
