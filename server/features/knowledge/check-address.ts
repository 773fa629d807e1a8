import type { RagConfig } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { judgeAddress } from "#server/platform/chosen-address.ts";
import { AppError } from "#server/platform/errors.ts";

/** Where the store or the service is, as it was configured; "" for documents, which are kept here. */
export const addressOf = (config: RagConfig): string =>
  "connection_string" in config ? config.connection_string : "url" in config ? config.url : "";

/**
 * Refuses an address that this install does not call, or that the caller may not choose, before it is stored; each call
 * checks again.
 * @returns whether it may lead to a private network, because an install admin chose it
 * @throws AppError VALIDATION_ERROR at the field of the address
 */
export async function checkAddress(principal: ProjectPrincipal, config: RagConfig): Promise<boolean> {
  const address = addressOf(config);
  if (!address) return false;
  // A database's address is checked as one of the web would be: what counts is the host.
  const url = new URL(address.replace(/^postgres(ql)?:/, "http:"));
  const verdict = await judgeAddress(principal, url);
  if (verdict.refusal === undefined) return verdict.private_allowed;
  const path = "connection_string" in config ? "config.connection_string" : "config.url";
  throw new AppError("VALIDATION_ERROR", verdict.refusal, { errors: [{ path, message: verdict.refusal }] });
}
