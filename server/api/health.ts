import { jsonResponse } from "#server/api/rest/respond.ts";
import { isDatabaseUp } from "#server/services/health/is-database-up.ts";

/** The process is up. */
export const health = async (): Promise<Response> => jsonResponse({ status: "ok" });

/** The process can work: 200, or 503 while the database does not answer. */
export async function readiness(): Promise<Response> {
  const isUp = await isDatabaseUp();
  return jsonResponse({ status: isUp ? "ready" : "unavailable", database: isUp ? "up" : "down" }, isUp ? 200 : 503);
}
