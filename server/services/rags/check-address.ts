import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { AppError } from "#server/errors.ts";
import { AddressRefused, assertReachable, configuredReach, endpointReach } from "#server/net/guard.ts";
import type { RagConfig } from "#server/schemas/rag.ts";

/** Where the store or the service is, as it was configured; "" for documents, which are kept here. */
export const addressOf = (config: RagConfig): string =>
  "connection_string" in config ? config.connection_string : "url" in config ? config.url : "";

/**
 * Refuses an address that this install does not call, or that the caller may not choose, before it is stored; each call
 * checks again.
 * @returns whether it may lead to a private network, because an admin chose it
 * @throws AppError VALIDATION_ERROR at the field of the address
 */
export async function checkAddress(principal: ProjectPrincipal, config: RagConfig): Promise<boolean> {
  const isAdmin = principal.role === "admin";
  const address = addressOf(config);
  if (!address) return isAdmin;
  // A database's address is checked as one of the web would be: what counts is the host.
  const url = new URL(address.replace(/^postgres(ql)?:/, "http:"));
  const refusal = await assertReachable(url, endpointReach(isAdmin)).catch((error: unknown) => {
    if (error instanceof AddressRefused) return error;
    throw error;
  });
  if (!refusal) return isAdmin;
  const isForAdmins =
    !isAdmin &&
    (await assertReachable(url, configuredReach()).then(
      () => true,
      () => false,
    ));
  const message = isForAdmins ? `The address ${url.host} is on a private network. Ask an admin of the project to set it.` : refusal.message;
  const path = "connection_string" in config ? "config.connection_string" : "config.url";
  throw new AppError("VALIDATION_ERROR", message, { errors: [{ path, message }] });
}
