import { Logger } from "graphile-worker";
import { log } from "#server/platform/log.ts";

/** graphile-worker's log, in ours: it tells of each job, which is no news. */
export const workerLog = new Logger(() => (level, message, meta) => {
  if (level === "error") log.warn({ err: meta?.error }, message);
  else log.debug(message);
});
