import { AddressRefused, assertReachable, configuredReach, endpointReach } from "#server/net/guard.ts";

/**
 * Why an address that somebody chose for the project is not called, as a sentence; null when it may be. Looks the host up.
 * @param act what an admin could do instead, e.g. "connect it"
 */
export async function addressRefusal(url: URL, isAdmin: boolean, act: string): Promise<string | null> {
  const refusal = await assertReachable(url, endpointReach(isAdmin)).catch((error: unknown) => {
    if (error instanceof AddressRefused) return error;
    throw error;
  });
  if (!refusal) return null;
  const isForAdmins =
    !isAdmin &&
    (await assertReachable(url, configuredReach()).then(
      () => true,
      () => false,
    ));
  return isForAdmins ? `The address ${url.host} is on a private network. Ask an admin of the project to ${act}.` : refusal.message;
}
