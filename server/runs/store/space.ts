import { LRUCache } from "lru-cache";
import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { settings } from "#server/platform/settings.ts";
import { StorageFull } from "#server/runs/ports.ts";

// How much each project holds. What is written is added up in this process and goes to the database every other second, so
// that no run waits for a count that its neighbours change too; what is lost with a process, or was deleted meanwhile, is
// found by the next measuring (server/runs/store/limits.ts). Decision 19.

/** What a project holds, counted as it is written and found exactly when it is measured. */
export type Counted = "runs" | "documents" | "workflows" | "other";

/** How long written bytes gather, in milliseconds. */
const FLUSH_MS = 2000;
/** How long a figure is believed that nobody here has changed, in milliseconds. */
const BELIEVED_MS = 5000;
/** A run that has begun may write so much more than a project may hold, so that it can end in good order. */
const RESERVE = 1.1;

const nothing = (): Record<Counted, number> => ({ runs: 0, documents: 0, workflows: 0, other: 0 });

interface Space {
  stored: number;
  readAt: number;
  /** Not in the database yet. */
  added: Record<Counted, number>;
}

/** What falls out had to add is found when the project is measured. */
const spaces = new LRUCache<string, Space>({ max: 10_000 });
let timer: NodeJS.Timeout | undefined;

function spaceOf(project_id: string): Space {
  const known = spaces.get(project_id);
  if (known) return known;
  const space = { stored: 0, readAt: 0, added: nothing() };
  spaces.set(project_id, space);
  return space;
}

const addedOf = ({ added }: Space): number => added.runs + added.documents + added.workflows + added.other;
const TOTAL = "(s.runs + s.documents + s.workflows + s.other)::float8 AS stored";

const ADD = `
  INSERT INTO project_storage AS s (project_id, runs, documents, workflows, other)
  SELECT a.id, a.runs, a.documents, a.workflows, a.other
  FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS a(id, runs, documents, workflows, other) JOIN projects p ON p.id = a.id
  ORDER BY a.id
  ON CONFLICT (project_id) DO UPDATE SET
    runs = s.runs + excluded.runs, documents = s.documents + excluded.documents, workflows = s.workflows + excluded.workflows,
    other = s.other + excluded.other
  RETURNING s.project_id, ${TOTAL}`;

async function flush(): Promise<void> {
  timer = undefined;
  const sent = [...spaces].filter(([, space]) => addedOf(space) > 0).map(([id, { added }]) => ({ id, ...added }));
  for (const { id } of sent) spaceOf(id).added = nothing();
  try {
    const of = (what: Counted) => sent.map((one) => one[what]);
    const values = [sent.map(({ id }) => id), of("runs"), of("documents"), of("workflows"), of("other")];
    const { rows } = await pool().query<{ project_id: string; stored: number }>({ name: "storage-add", text: ADD, values });
    for (const { project_id, stored } of rows) Object.assign(spaceOf(project_id), { stored, readAt: Date.now() });
  } catch (error) {
    for (const { id, runs, documents, workflows, other } of sent) {
      const { added } = spaceOf(id);
      added.runs += runs;
      added.documents += documents;
      added.workflows += workflows;
      added.other += other;
    }
    if (!isDatabaseAway(error)) log.warn({ err: error }, "what projects hold could not be counted; the next measuring will find it");
  }
}

/** Takes note of bytes that were written for a project. */
export function noteStored(project_id: string, what: Counted, bytes: number): void {
  spaceOf(project_id).added[what] += bytes;
  // The transaction of a caller does not wait for it.
  if (timer === undefined) timer = asOtherCaller(() => setTimeout(() => void flush(), FLUSH_MS).unref());
}

/** How many bytes a project may hold; Infinity where there is no quota. */
export const storageQuota = (): number => settings().PROJECT_STORAGE_BYTES || Number.POSITIVE_INFINITY;

/**
 * About how many bytes a project holds. Asks the database for what is not known here.
 * @param on whom to ask: whoever is within a transaction must not wait for another connection
 */
export async function storedBytes(project_id: string, on: Pick<pg.Pool, "query"> = pool()): Promise<number> {
  const space = spaceOf(project_id);
  if (Date.now() - space.readAt > BELIEVED_MS) {
    const text = `SELECT ${TOTAL} FROM project_storage s WHERE s.project_id = $1`;
    const { rows } = await on.query<{ stored: number }>({ name: "storage-read", text, values: [project_id] });
    Object.assign(space, { stored: rows[0]?.stored ?? 0, readAt: Date.now() });
  }
  return space.stored + addedOf(space);
}

/** Forgets what is known of a project: it was measured, and what was still to be added was found. */
export function forgetStored(project_id: string): void {
  spaces.delete(project_id);
}

const size = (bytes: number): string => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** What is told where a project holds more than it may. */
export const fullStorage = (stored: number): string =>
  `This project holds ${size(stored)}; its quota is ${size(storageQuota())}. Keep runs for a shorter time (Settings, Limits) or delete documents. The operator of this install can raise PROJECT_STORAGE_BYTES.`;

/**
 * Refuses what a run writes before its end, once its project is a tenth over its quota, as far as this process knows.
 * @throws StorageFull
 */
export function assertSpace(project_id: string): void {
  const space = spaces.get(project_id);
  const stored = space ? space.stored + addedOf(space) : 0;
  if (stored > storageQuota() * RESERVE) throw new StorageFull(fullStorage(stored));
}
