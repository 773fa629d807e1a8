import { toLlmKey } from "#server/features/llm-keys/llm-key-dto.ts";
import type { LlmKey } from "#server/features/llm-keys/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** The project's LLM keys, masked, newest first. */
export async function listLlmKeys(principal: ProjectPrincipal, input: PageInput): Promise<Page<LlmKey>> {
  const where = { project_id: principal.project.id };
  const rows = db().llmKey.findMany({ where, orderBy: { id: "desc" }, omit: { sealed_key: true }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().llmKey.count({ where }), rows]), toLlmKey);
}
