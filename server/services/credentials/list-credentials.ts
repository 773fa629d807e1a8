import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Credential } from "#server/schemas/credential.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { shownFields, toCredential } from "#server/services/credentials/credential-dto.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The names of the project's credentials, newest first. */
export async function listCredentials({ project }: ProjectPrincipal, input: PageInput): Promise<Page<Credential>> {
  const where = { project_id: project.id };
  const rows = db().credential.findMany({ where, orderBy: { id: "desc" }, select: shownFields, ...pageWindow(input) });
  return paged(input, await Promise.all([db().credential.count({ where }), rows]), toCredential);
}
