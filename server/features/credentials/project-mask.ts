import { openHeaders } from "#server/features/mcp/service.ts";
import { db } from "#server/platform/db/client.ts";
import { isAppError } from "#server/platform/errors.ts";
import { type Masker, maskerInSlices } from "#server/platform/masking/masker.ts";
import { unseal } from "#server/platform/secrets.ts";

/** Shorter header values, such as a version or a language, would garble texts. */
const SHORTEST_HEADER = 12;

/** What `open` gives; nothing for what was sealed under another key, since that can stand nowhere in clear. */
export function opened<Value>(open: () => Value, otherwise: Value): Value {
  try {
    return open();
  } catch (error) {
    if (isAppError(error)) return otherwise;
    throw error;
  }
}

/** A header's value, and the token in it without its scheme. */
const partsOf = (value: string) => [value, value.split(" ").at(-1) ?? ""].filter((part) => part.length >= SHORTEST_HEADER);

/** The texts in the secret settings of a knowledge source. */
const secretsIn = (json: string): string[] =>
  Object.values(JSON.parse(json) as object).flatMap((value: unknown) =>
    typeof value === "object" && value !== null ? Object.values(value).map(String).flatMap(partsOf) : [String(value)],
  );

/**
 * Masks every secret of the project: should somebody have typed one into a text instead of naming it, or a service have
 * told it again.
 * @param workflow_id of whose webhook the secret is masked too
 */
export async function projectMask(project_id: string, workflow_id?: string): Promise<Masker> {
  const where = { project_id };
  const [credentials, keys, servers, sources, webhook] = await Promise.all([
    db().credential.findMany({ where, select: { sealed_value: true } }),
    db().llmKey.findMany({ where, select: { sealed_key: true } }),
    db().mcpServer.findMany({ where, select: { sealed_headers: true } }),
    db().ragSource.findMany({ where, select: { sealed_secrets: true } }),
    workflow_id === undefined ? null : db().webhook.findUnique({ where: { workflow_id }, select: { sealed_secret: true } }),
  ]);
  const sealed = [
    ...credentials.map((row) => row.sealed_value),
    ...keys.map((row) => row.sealed_key),
    ...(webhook ? [webhook.sealed_secret] : []),
  ];
  const headers = servers.flatMap((row) => Object.values(opened(() => openHeaders(row.sealed_headers), {})));
  const ofSources = sources.flatMap(({ sealed_secrets }) =>
    sealed_secrets === null ? [] : opened(() => secretsIn(unseal(sealed_secrets)), []),
  );
  return await maskerInSlices([...sealed.map((text) => opened(() => unseal(text), "")), ...headers.flatMap(partsOf), ...ofSources]);
}
