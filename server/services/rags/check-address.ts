import { AppError } from "#server/errors.ts";
import { AddressRefused, assertReachable, configuredReach } from "#server/net/guard.ts";
import type { RagConfig } from "#server/schemas/rag.ts";

/**
 * Refuses an address that this install does not call before it is stored; each call checks again.
 * @throws AppError VALIDATION_ERROR at the field of the address
 */
export async function checkAddress(config: RagConfig): Promise<void> {
  const [path, address] =
    "connection_string" in config ? ["connection_string", config.connection_string] : ["url", "url" in config ? config.url : ""];
  if (!address) return;
  // A database's address is checked as one of the web would be: what counts is the host.
  const url = new URL(path === "url" ? address : address.replace(/^postgres(ql)?:/, "http:"));
  try {
    await assertReachable(url, configuredReach());
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error;
    throw new AppError("VALIDATION_ERROR", error.message, { errors: [{ path: `config.${path}`, message: error.message }] });
  }
}
