import { fork } from "node:child_process";
import { join } from "node:path";
import { newClient } from "#server/platform/db/connections.ts";
import type { MigrationAnswer } from "#server/platform/db/migrate-process.ts";
import { migrationNames } from "#server/platform/db/schema-engine.ts";

const PROGRAM = join(import.meta.dirname, "migrate-process.ts");

/** Whether the database has had every migration of this version, and none has failed half-way, as Prisma's own table says. */
async function isUpToDate(databaseUrl: string): Promise<boolean> {
  const client = newClient({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query("SELECT 1 WHERE to_regclass('_prisma_migrations') IS NOT NULL");
    if (tables.length === 0) return false;
    const { rows } = await client.query<{ name: string; is_done: boolean }>(
      "SELECT migration_name AS name, finished_at IS NOT NULL AS is_done FROM _prisma_migrations WHERE rolled_back_at IS NULL",
    );
    const had = new Set(rows.map(({ name }) => name));
    return rows.every(({ is_done }) => is_done) && (await migrationNames()).every((name) => had.has(name));
  } finally {
    await client.end();
  }
}

/** In a process of its own: what compiling Prisma's schema engine takes, some 40 MB, a process keeps for as long as it lives. */
function migrateApart(databaseUrl: string): Promise<MigrationAnswer> {
  const child = fork(PROGRAM, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const { promise, resolve, reject } = Promise.withResolvers<MigrationAnswer>();
  child.once("message", (answer: MigrationAnswer) => resolve(answer));
  child.once("error", reject);
  child.once("exit", () =>
    reject(
      new Error("The process that brings the database up to date has died. Start again; a migration that it left half done is named then."),
    ),
  );
  // Not among its arguments, which anybody on the machine can list. When it cannot be sent the process is gone, and its exit says so.
  child.send(databaseUrl, () => undefined);
  return promise;
}

/**
 * Brings the database to this version's schema: applies the migrations of prisma/migrations that it does not have yet.
 * Safe to call from several processes at once.
 * @returns the names of the migrations applied now
 * @throws Error when a migration fails
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  if (await isUpToDate(databaseUrl)) return [];
  const answer = await migrateApart(databaseUrl);
  if ("error" in answer) throw new Error(answer.error);
  return answer.applied;
}
