import { countDocuments, toRag } from "#server/features/knowledge/rag-dto.ts";
import type { Rag } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** The project's RAG sources, newest first, secrets masked. */
export async function listRags(principal: ProjectPrincipal, input: PageInput): Promise<Page<Rag>> {
  const where = { project_id: principal.project.id };
  const rows = db().ragSource.findMany({ where, orderBy: { id: "desc" }, omit: { sealed_secrets: true }, ...pageWindow(input) });
  const [total, found] = await Promise.all([db().ragSource.count({ where }), rows]);
  const counts = await countDocuments(found.map(({ id }) => id));
  return paged(input, [total, found], (row) => toRag(row, counts));
}
