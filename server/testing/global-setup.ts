import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startTestPostgres } from "#server/testing/test-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of a migrated, empty database that a test file copies; see test-database.ts. */
    templateDatabaseUrl: string;
  }
}

/** One PostgreSQL for all integration tests of a run, with one migrated database to copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "treadle-test-"));
  // As root the server runs under another account, which must be able to pass through.
  await chmod(folder, 0o755);
  const server = await startTestPostgres(join(folder, "postgres"), "test", ["synchronous_commit"]);
  project.provide("templateDatabaseUrl", server.url);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
