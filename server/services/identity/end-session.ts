import { db } from "#server/db/client.ts";
import { isUuid } from "#server/services/ids.ts";

/** How long a cookie is good for, in seconds; each page that is opened begins it anew. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;

/** Ends a browser session on the server, so that a copy of its cookie opens nothing any more. Remembered until every such copy has run out. */
export async function endSession(sid: unknown): Promise<void> {
  if (typeof sid !== "string" || !isUuid(sid)) return;
  const ended = { id: sid, expires_at: new Date(Date.now() + SESSION_SECONDS * 1000) };
  await db().endedSession.createMany({ data: [ended], skipDuplicates: true });
}

/** Forgets ended sessions whose cookies have all run out. */
export async function tidySessions(): Promise<void> {
  await db().endedSession.deleteMany({ where: { expires_at: { lt: new Date() } } });
}
