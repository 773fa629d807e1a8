import type { SearchCredentials } from "#server/llm/tools/web-search.ts";
import { SEARCH_PROVIDERS } from "#server/llm/tools/web-search-providers.ts";
import { judgeAddress } from "#server/platform/auth/chosen-address.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import { unseal } from "#server/platform/secrets.ts";

/** Names of the project's credentials, by which expressions read them. */
export async function credentialNames(project_id: string): Promise<string[]> {
  const rows = await db().credential.findMany({ where: { project_id }, select: { name: true }, orderBy: { name: "asc" } });
  return rows.map(({ name }) => name);
}

/**
 * The values behind the project's credentials, by name, in clear: for `{{credentials.NAME}}` in a run, for masking, and
 * for tools that take their keys from the project. Never put one into a log, an error, an event or an answer.
 * @throws AppError INTERNAL_ERROR when one was sealed under another ENCRYPTION_KEY
 */
export async function readCredentialValues(projectId: string): Promise<Map<string, string>> {
  const rows = await db().credential.findMany({ where: { project_id: projectId }, select: { name: true, sealed_value: true } });
  return new Map(rows.map(({ name, sealed_value }) => [name, unseal(sealed_value)]));
}

const NAMES = SEARCH_PROVIDERS.flatMap(({ setting }) => setting ?? []);
const ADDRESSES = new Set<string>(SEARCH_PROVIDERS.flatMap(({ setting, isOwnAddress }) => (setting && isOwnAddress ? [setting] : [])));

/**
 * The project's credentials that choose its search service, in clear. Never put one into a log, an error, an event or an answer.
 * @throws AppError INTERNAL_ERROR when one was sealed under another ENCRYPTION_KEY
 */
export async function readSearchCredentials(project_id: string): Promise<SearchCredentials> {
  const rows = await db().credential.findMany({ where: { project_id, name: { in: NAMES } } });
  return {
    credentials: new Map(rows.map(({ name, sealed_value }) => [name, unseal(sealed_value)])),
    isPrivateAllowed: rows.some(({ name, private_allowed }) => ADDRESSES.has(name) && private_allowed),
  };
}

/**
 * Whether a credential is the address of a service that may be private. What is no address is told when it is used.
 * @throws AppError VALIDATION_ERROR for an address that the caller may not choose
 */
export async function checkSearchAddress(principal: ProjectPrincipal, name: string, value: string): Promise<boolean> {
  const url = ADDRESSES.has(name) ? URL.parse(value.trim()) : null;
  if (!url) return false;
  const verdict = await judgeAddress(principal, url);
  if (verdict.refusal === undefined) return verdict.private_allowed;
  throw invalidField("value", verdict.refusal);
}
