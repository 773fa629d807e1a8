import { db } from "#server/platform/db/client.ts";
import { unseal } from "#server/platform/secrets.ts";

/**
 * The values behind the project's credentials, by name, in clear: for `{{credentials.NAME}}` in a run, for masking, and
 * for tools that take their keys from the project. Never put one into a log, an error, an event or an answer.
 * @throws AppError INTERNAL_ERROR when one was sealed under another ENCRYPTION_KEY
 */
export async function readCredentialValues(projectId: string): Promise<Map<string, string>> {
  const rows = await db().credential.findMany({ where: { project_id: projectId }, select: { name: true, sealed_value: true } });
  return new Map(rows.map(({ name, sealed_value }) => [name, unseal(sealed_value)]));
}
