import { fork } from "node:child_process";
import { join } from "node:path";
import type pg from "pg";
import { escapeIdentifier, newClient } from "#server/platform/db/connections.ts";
import type { MigrationMessage, MigrationOrder } from "#server/platform/db/migrate-process.ts";
import { isBreaking, migrationNames } from "#server/platform/db/schema-engine.ts";
import { log } from "#server/platform/log.ts";
import { RELEASE } from "#server/platform/release.ts";

const PROGRAM = join(import.meta.dirname, "migrate-process.ts");

interface MigrationState {
  /** Migrations of this release that the database does not have, oldest first. */
  pending: string[];
  /** Migrations of the database that this release does not have, oldest first. */
  unknown: string[];
  /** A migration failed half-way. */
  isBroken: boolean;
}

async function has(client: pg.Client, table: string): Promise<boolean> {
  return (await client.query("SELECT WHERE to_regclass($1) IS NOT NULL", [table])).rowCount === 1;
}

/** Compares prisma/migrations with Prisma's own table of what was applied. */
async function readState(client: pg.Client): Promise<MigrationState> {
  const names = await migrationNames();
  if (!(await has(client, "_prisma_migrations"))) return { pending: names, unknown: [], isBroken: false };

  const { rows } = await client.query<{ name: string; is_done: boolean }>(
    "SELECT migration_name AS name, finished_at IS NOT NULL AS is_done FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY 1",
  );
  const applied = new Set(rows.map(({ name }) => name));
  const own = new Set(names);
  return {
    pending: names.filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !own.has(name)),
    isBroken: rows.some(({ is_done }) => !is_done),
  };
}

/**
 * Warns that a newer release has migrated the database.
 * @param unknown migrations that this release does not have
 * @throws Error when one of them is marked as one that older releases cannot run with
 */
async function checkNewer(client: pg.Client, unknown: string[]): Promise<void> {
  const { rows } = (await has(client, "migration_releases"))
    ? await client.query<{ migration: string; release: string; is_breaking: boolean }>(
        "SELECT migration, release, is_breaking FROM migration_releases WHERE migration = ANY ($1) ORDER BY migration",
        [unknown],
      )
    : { rows: [] };
  const newer = rows.at(-1)?.release ?? "a newer release";

  const breaking = rows.find(({ is_breaking }) => is_breaking);
  if (breaking)
    throw new Error(
      `This is Treadle ${RELEASE}, and its database was changed by ${breaking.release} so that older releases cannot run on it (migration ${breaking.migration}). Start ${newer} or newer, or restore the backup made before the update.`,
    );
  log.warn(
    { release: RELEASE, database_release: newer, migrations: unknown },
    "the database was migrated by a newer release; this one runs on it beside that one",
  );
}

/**
 * Checks that the role may create what migrations create.
 * @param schemas names of further schemas that this start creates when they are missing
 * @throws Error with one sentence that names the missing grants
 */
async function checkGrants(client: pg.Client, schemas: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ role: string; database: string; in_schema: boolean; in_database: boolean }>(
    `SELECT current_user AS role, current_database() AS database,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS in_schema,
       has_database_privilege(current_database(), 'CREATE')
         OR NOT EXISTS (SELECT FROM unnest($1::text[]) AS name WHERE to_regnamespace(name) IS NULL) AS in_database`,
    [schemas],
  );
  const [row] = rows;
  if (!row || (row.in_schema && row.in_database)) return;

  const role = escapeIdentifier(row.role);
  const grants = [
    ...(row.in_schema ? [] : [`GRANT USAGE, CREATE ON SCHEMA public TO ${role};`]),
    ...(row.in_database ? [] : [`GRANT CREATE ON DATABASE ${escapeIdentifier(row.database)} TO ${role};`]),
  ];
  throw new Error(
    `The role ${role} of DATABASE_URL may not create the tables of this release. As owner of the database, connected to it, run: ${grants.join(" ")}`,
  );
}

/** Records which release applies these migrations, if the database has the table for it. */
async function recordRelease(client: pg.Client, names: readonly string[]): Promise<void> {
  if (!(await has(client, "migration_releases"))) return;
  const breaking = await Promise.all(names.map(isBreaking));
  await client.query(
    `INSERT INTO migration_releases (migration, release, is_breaking)
     SELECT migration, $3, is_breaking FROM unnest($1::text[], $2::boolean[]) AS m (migration, is_breaking)
     ON CONFLICT DO NOTHING`,
    [names, breaking, RELEASE],
  );
}

/**
 * Applies migrations in a process of its own: what compiling Prisma's schema engine takes, some 40 MB, a process keeps for as long as
 * it lives. Each is logged with its duration.
 * @returns the names of the migrations applied now
 */
function migrateApart(order: MigrationOrder): Promise<string[]> {
  const child = fork(PROGRAM, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const applied: string[] = [];

  child.on("message", (message: MigrationMessage) => {
    if ("error" in message) reject(new Error(message.error));
    else if ("isDone" in message) resolve(applied);
    else {
      applied.push(message.applied);
      log.info({ migration: message.applied, duration_ms: message.ms }, "database migration applied");
    }
  });
  child.once("error", reject);
  child.once("exit", () =>
    reject(
      new Error("The process that brings the database up to date has died. Start again; a migration that it left half done is named then."),
    ),
  );
  // Not among its arguments, which anybody on the machine can list. When it cannot be sent the process is gone, and its exit says so.
  child.send(order, () => undefined);
  return promise;
}

/**
 * Brings the database to this release's schema: applies the migrations of prisma/migrations that it does not have yet.
 * Safe to call from several processes at once.
 * @param schemas names of further schemas that this start creates when they are missing
 * @returns the names of the migrations applied now
 * @throws Error when a migration fails, when the role may not create tables, or when a newer release has changed the database so that
 *   this one cannot run on it
 */
export async function migrate(databaseUrl: string, schemas: readonly string[] = []): Promise<string[]> {
  const client = newClient({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { pending, unknown, isBroken } = await readState(client);
    if (unknown.length > 0) await checkNewer(client, unknown);
    if (pending.length === 0 && !isBroken) return [];

    await checkGrants(client, schemas);
    log.info({ pending: pending.length }, "database migrations pending");
    // Before they are applied: a start that is killed between the two leaves no migration without its release.
    await recordRelease(client, pending);
    // With none pending, the engine still says what is wrong with one that failed.
    const applied = await migrateApart({ databaseUrl, pending: pending.length > 0 ? pending : (await migrationNames()).slice(-1) });
    await recordRelease(client, applied);
    return applied;
  } finally {
    await client.end();
  }
}
