import { installJobSchema } from "#server/jobs/postgres/install.ts";
import { newClient } from "#server/platform/db/connections.ts";
import { type EmbeddedDatabase, startEmbeddedDatabase } from "#server/platform/db/embedded.ts";
import { migrate } from "#server/platform/db/migrate.ts";
import { log } from "#server/platform/log.ts";

/** Settings of a PostgreSQL without which what is written need not outlast a power cut. The system keeps what a killed process wrote. */
const FLUSHING = ["fsync", "full_page_writes"];

/**
 * Starts a PostgreSQL of tests with the database of an install, migrated and empty. It does not flush, now and at later starts:
 * tests kill processes only.
 * @param folder absolute path of its files, to be made
 * @param off further settings to switch off
 */
export async function startTestPostgres(folder: string, password: string, off: readonly string[] = []): Promise<EmbeddedDatabase> {
  // Not a line for each migration in the output of tests.
  log.level = "warn";
  const server = await startEmbeddedDatabase(folder, password);
  const client = newClient({ connectionString: server.url });
  await client.connect();
  for (const setting of [...FLUSHING, ...off]) await client.query(`ALTER SYSTEM SET ${setting} = off`);
  await client.query("SELECT pg_reload_conf()");
  await client.end();
  await migrate(server.url);
  await installJobSchema(server.url);
  return server;
}
