import { executorContact } from "#server/events/contact.ts";
import { jsonResponse } from "#server/http/messages/respond.ts";
import { db } from "#server/platform/db/client.ts";

/** Whether the database answers. */
export async function isDatabaseUp(): Promise<boolean> {
  return db().$queryRaw`SELECT 1`.then(
    () => true,
    () => false,
  );
}

/** The process is up. */
export const health = async (): Promise<Response> => jsonResponse({ status: "ok" });

/**
 * The process can work: 200, or 503 while the database does not answer. With an Inngest server named, also how it stands with
 * that one; without it runs are accepted and wait, so that is no reason to send anybody away, least of all the server itself.
 */
export async function readiness(): Promise<Response> {
  const executor = (await isDatabaseUp()) ? await executorContact().catch(() => undefined) : undefined;
  if (!executor) return jsonResponse({ status: "unavailable", database: "down" }, 503);
  const told = executor.kind === "embedded" ? {} : { executor };
  return jsonResponse({ status: executor.problem === null ? "ready" : "degraded", database: "up", ...told });
}
