import { AppError } from "#server/platform/errors.ts";

/** Most event streams that this process keeps open for one account, and for one project. */
export const MAX_STREAMS_PER_ACCOUNT = 100;
export const MAX_STREAMS_PER_PROJECT = 1000;

const RETRY_SECONDS = 5;

const counts = new Map<string, number>();

function add(key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

const tooManyStreams = (of: string, limit: number): AppError =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    `${of} has ${limit.toLocaleString("en")} event streams open, which is the limit. Close some of them, then try again.`,
    { retryAfter: RETRY_SECONDS },
  );

/**
 * Counts an event stream of an account in a project.
 * @returns ends the count, once however often it is called
 * @throws AppError RATE_LIMIT_EXCEEDED when the account or the project has as many as it may
 */
export function openStream(user_id: string, project_id: string): () => void {
  const [account, project] = [`account ${user_id}`, `project ${project_id}`];
  if ((counts.get(account) ?? 0) >= MAX_STREAMS_PER_ACCOUNT) throw tooManyStreams("This account", MAX_STREAMS_PER_ACCOUNT);
  if ((counts.get(project) ?? 0) >= MAX_STREAMS_PER_PROJECT) throw tooManyStreams("This project", MAX_STREAMS_PER_PROJECT);
  for (const key of [account, project]) add(key, 1);
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    for (const key of [account, project]) add(key, -1);
  };
}
