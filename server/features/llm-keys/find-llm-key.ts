import type { LlmKey as LlmKeyRow } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

/** The stored key with this id in this project, or null. */
export async function findLlmKey(projectId: string, keyId: string): Promise<LlmKeyRow | null> {
  return isUuid(keyId) ? db().llmKey.findFirst({ where: { id: keyId, project_id: projectId } }) : null;
}
