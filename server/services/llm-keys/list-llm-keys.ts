import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { LlmKey } from "#server/schemas/llm-key.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { toLlmKey } from "#server/services/llm-keys/llm-key-dto.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The project's LLM keys, masked, newest first. */
export async function listLlmKeys(principal: ProjectPrincipal, input: PageInput): Promise<Page<LlmKey>> {
  const where = { project_id: principal.project.id };
  const rows = db().llmKey.findMany({ where, orderBy: { id: "desc" }, omit: { sealed_key: true }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().llmKey.count({ where }), rows]), toLlmKey);
}
