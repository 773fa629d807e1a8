import type { Prisma } from "#prisma/generated/client.ts";
import { type AuditActor, type AuditRecord, recordAudit } from "#server/platform/audit/audit.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, isUniqueViolation, notFound } from "#server/platform/errors.ts";

const MOST_NAMED = 10;

/** The users of a resource in words: `the agent "Scout"`, `the agents "Scout", "Writer" and 3 more`. */
export function namesInUse(kind: string, users: readonly { name: string }[], kinds = `${kind}s`): string {
  const named = users.slice(0, MOST_NAMED).map(({ name }) => `"${name}"`);
  const more = users.length - named.length;
  const parts = more > 0 ? [...named, `${more} more`] : named;
  const last = parts.pop() ?? "";
  return `the ${users.length === 1 ? kind : kinds} ${parts.length ? `${parts.join(", ")} and ${last}` : last}`;
}

/** @param what with its article: `an LLM key` */
export const nameTaken = (what: string, name: string): AppError =>
  new AppError("CONFLICT", `The project already has ${what} named "${name}". Choose another name.`);

/**
 * Writes a resource of the project and the audit entry for it, both or neither.
 * @param record `what` it is with its article, and the `name` that it is to have
 * @throws AppError CONFLICT when another one has the name
 */
export async function saveResource<Row extends { id: string; name: string }>(
  actor: AuditActor,
  { what, name, ...record }: { what: string; name: string } & Omit<AuditRecord, "resource_id" | "resource_name">,
  write: (tx: Prisma.TransactionClient) => Promise<Row>,
): Promise<Row> {
  try {
    return await db().$transaction(async (tx) => {
      const row = await write(tx);
      await recordAudit(tx, actor, { ...record, resource_id: row.id, resource_name: row.name });
      return row;
    });
  } catch (error) {
    throw isUniqueViolation(error) ? nameTaken(what, name) : error;
  }
}

/**
 * Deletes a resource of the project and writes the audit entry for it, both or neither.
 * @param what it is, in words: `MCP server`
 * @param remove deletes its row, if that is still there
 * @param inUse why it must stay, as a sentence; undefined when nothing uses it. Left out, nothing can
 * @throws AppError CONFLICT when something uses it; NOT_FOUND when somebody else has deleted it
 */
export async function deleteResource(
  actor: AuditActor,
  what: string,
  record: AuditRecord,
  remove: (tx: Prisma.TransactionClient) => Promise<{ count: number }>,
  inUse: () => Promise<string | undefined> = async () => undefined,
): Promise<void> {
  const assertUnused = async () => {
    const reason = await inUse();
    if (reason !== undefined) throw new AppError("CONFLICT", reason);
  };
  await assertUnused();
  try {
    await db().$transaction(async (tx) => {
      const { count } = await remove(tx);
      if (count === 0) throw notFound(what);
      await recordAudit(tx, actor, record);
    });
  } catch (error) {
    // Something began to use it in this very moment.
    if (isForeignKeyViolation(error)) await assertUnused();
    throw error;
  }
}
