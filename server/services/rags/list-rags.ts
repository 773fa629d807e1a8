import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import type { Rag } from "#server/schemas/rag.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { countDocuments, toRag } from "#server/services/rags/rag-dto.ts";

/** The project's RAG sources, newest first, secrets masked. */
export async function listRags(principal: ProjectPrincipal, input: PageInput): Promise<Page<Rag>> {
  const where = { project_id: principal.project.id };
  const rows = db().ragSource.findMany({ where, orderBy: { id: "desc" }, omit: { sealed_secrets: true }, ...pageWindow(input) });
  const [total, found] = await Promise.all([db().ragSource.count({ where }), rows]);
  const counts = await countDocuments(found.map(({ id }) => id));
  return paged(input, [total, found], (row) => toRag(row, counts));
}
