import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import { shownFields } from "#server/services/credentials/credential-dto.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * The stored credential, without its value.
 * @throws AppError NOT_FOUND, also for one of another project
 */
export async function findCredential({ project }: ProjectPrincipal, id: string) {
  const row = isUuid(id) ? await db().credential.findFirst({ where: { id, project_id: project.id }, select: shownFields }) : null;
  if (!row) throw notFound("credential");
  return row;
}
