import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

/** Id of the project that an execution belongs to, or undefined. Says nothing about who may see it. */
export async function projectOfExecution(execution_id: string): Promise<string | undefined> {
  if (!isUuid(execution_id)) return undefined;
  return (await db().execution.findUnique({ where: { id: execution_id }, select: { project_id: true } }))?.project_id;
}
