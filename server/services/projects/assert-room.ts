import type pg from "pg";
import { fullStorage, storageQuota, storedBytes } from "#server/engine/run-store-space.ts";
import { AppError } from "#server/errors.ts";
import { measureStorage } from "#server/services/projects/measure-storage.ts";

/** How soon after a refusal a full project is measured again, in milliseconds: something may have been deleted. */
const AGAIN_MS = 10_000;
const measured = new Map<string, number>();

/**
 * Why a project may take no more in; undefined while it has room.
 * @param within a transaction, which must not wait for another connection: then it is not measured again
 * @returns a sentence that says what to do
 */
export async function reasonWithoutRoom(project_id: string, within?: pg.PoolClient): Promise<string | undefined> {
  const stored = await storedBytes(project_id, within);
  if (stored <= storageQuota()) return undefined;
  if (within) return fullStorage(stored);
  if (Date.now() - (measured.get(project_id) ?? 0) < AGAIN_MS) return fullStorage(stored);
  if (measured.size > 1000) measured.clear();
  measured.set(project_id, Date.now());
  await measureStorage(project_id, () => false);
  const now = await storedBytes(project_id);
  return now > storageQuota() ? fullStorage(now) : undefined;
}

/**
 * Refuses what a full project would store.
 * @throws AppError CONFLICT that says what to do
 */
export async function assertRoom(project_id: string): Promise<void> {
  const reason = await reasonWithoutRoom(project_id);
  if (reason !== undefined) throw new AppError("CONFLICT", reason);
}
