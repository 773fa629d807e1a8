import { db } from "#server/platform/db/client.ts";

/** Names of the project's credentials, by which expressions read them. */
export async function credentialNames(project_id: string): Promise<string[]> {
  const rows = await db().credential.findMany({ where: { project_id }, select: { name: true }, orderBy: { name: "asc" } });
  return rows.map(({ name }) => name);
}
