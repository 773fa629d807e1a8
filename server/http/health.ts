import { setTimeout as pause } from "node:timers/promises";
import { executorContact } from "#server/events/contact.ts";
import { jsonResponse } from "#server/http/messages/respond.ts";
import { answersWithin } from "#server/platform/db/connections.ts";
import { storageProblem } from "#server/platform/errors.ts";
import { shownProxy } from "#server/platform/net/outgoing-proxy.ts";
import { settings } from "#server/platform/settings.ts";

/** Times of readiness, in ms: for the database to accept a connection, and for what is read then; 2 s in all. */
const DATABASE_MS = 1200;
const EXECUTOR_MS = 600;

/** The process is up. */
export const health = async (): Promise<Response> => jsonResponse({ status: "ok" });

/**
 * The process can work: 200, or 503 within 2 s while the database does not answer. A full disk is "degraded", since reads are
 * answered. With OUTGOING_PROXY, the proxies without user and password. With an Inngest server named, the state of the connection to it as well: without it runs are accepted and wait, so the
 * process stays ready.
 */
export async function readiness(): Promise<Response> {
  const isUp = await answersWithin(settings().DATABASE_URL ?? "", DATABASE_MS);
  const late = pause(EXECUTOR_MS, undefined, { ref: false });
  const executor = isUp ? await Promise.race([executorContact().catch(() => undefined), late]) : undefined;
  const storage = storageProblem();
  const proxy = shownProxy();
  if (!executor) return jsonResponse({ status: "unavailable", database: "down", ...(storage && { storage }) }, 503);

  const isDegraded = executor.problem !== null || storage !== undefined;
  return jsonResponse({
    status: isDegraded ? "degraded" : "ready",
    database: "up",
    ...(storage && { storage }),
    ...(proxy && { proxy }),
    ...(executor.kind !== "embedded" && { executor }),
  });
}
