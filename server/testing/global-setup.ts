import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { installJobSchema } from "#server/jobs/postgres/install.ts";
import { startEmbeddedDatabase } from "#server/platform/db/embedded.ts";
import { migrate } from "#server/platform/db/migrate.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of a migrated, empty database that a test file copies; see test-database.ts. */
    templateDatabaseUrl: string;
  }
}

/** What is written need not outlast a power cut here: only processes are killed, and the system keeps what they wrote. */
async function withoutFlushing(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const setting of ["fsync", "synchronous_commit", "full_page_writes"]) await client.query(`ALTER SYSTEM SET ${setting} = off`);
  await client.query("SELECT pg_reload_conf()");
  await client.end();
}

/** One PostgreSQL for all integration tests of a run, with one migrated database to copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "treadle-test-"));
  // As root the server runs under another account, which must be able to pass through.
  await chmod(folder, 0o755);
  const server = await startEmbeddedDatabase(join(folder, "postgres"), "test");
  await withoutFlushing(server.url);
  await migrate(server.url);
  await installJobSchema(server.url);
  project.provide("templateDatabaseUrl", server.url);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
