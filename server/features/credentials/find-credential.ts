import { shownFields } from "#server/features/credentials/credential-dto.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

/**
 * The stored credential, without its value.
 * @throws AppError NOT_FOUND, also for one of another project
 */
export async function findCredential({ project }: ProjectPrincipal, id: string) {
  const row = isUuid(id) ? await db().credential.findFirst({ where: { id, project_id: project.id }, select: shownFields }) : null;
  if (!row) throw notFound("credential");
  return row;
}
