import { shownFields, toCredential } from "#server/features/credentials/credential-dto.ts";
import type { Credential } from "#server/features/credentials/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** The names of the project's credentials, newest first. */
export async function listCredentials({ project }: ProjectPrincipal, input: PageInput): Promise<Page<Credential>> {
  const where = { project_id: project.id };
  const rows = db().credential.findMany({ where, orderBy: { id: "desc" }, select: shownFields, ...pageWindow(input) });
  return paged(input, await Promise.all([db().credential.count({ where }), rows]), toCredential);
}
