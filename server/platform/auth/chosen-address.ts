import type { Principal } from "#server/platform/auth/principal.ts";
import { isInstallAdmin } from "#server/platform/auth/rights.ts";
import { AddressRefused, assertReachable, endpointReach, type Reach } from "#server/platform/net/guard.ts";

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

/**
 * Judges the address of an endpoint that somebody saves or tries. Looks the host up. One that is public now gets no leave for
 * private networks, whoever saves it: whoever owns its name could lead it into one later.
 */
export async function judgeAddress(principal: Principal, url: URL): Promise<Verdict> {
  if (!(await refusalAt(url, endpointReach(false)))) return { private_allowed: false };
  const refusal = await refusalAt(url, endpointReach(true));
  if (refusal) return { refusal: refusal.message };
  if (await isInstallAdmin(principal)) return { private_allowed: true };
  return {
    refusal: `The address ${url.host} is on a private network. Ask an install admin to save it here, or have the operator set ALLOW_PRIVATE_NETWORK=1.`,
  };
}
