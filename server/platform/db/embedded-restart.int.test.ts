import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newPool } from "#server/platform/db/connections.ts";
import { startEmbeddedDatabase } from "#server/platform/db/embedded.ts";
import { isRunning } from "#server/platform/process-state.ts";

test("an embedded database that ended starts again unless it was stopped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "treadle-restart-"));
  // As root the server runs under another account, which must be able to pass through.
  await chmod(folder, 0o755);
  const files = join(folder, "postgres");
  const postmaster = () => Number(readFileSync(join(files, "postmaster.pid"), "utf8").split("\n")[0]);
  const database = await startEmbeddedDatabase(files, "test");
  const pool = newPool({ connectionString: database.url });
  const first = postmaster();

  process.kill(first, "SIGKILL");

  const ask = () =>
    pool.query("SELECT 1 AS one").then(
      ({ rows }) => rows,
      () => [],
    );
  await expect.poll(() => isRunning(first)).toBe(false);
  await expect.poll(ask, { timeout: 25_000 }).toEqual([{ one: 1 }]);
  const second = postmaster();
  expect(second).not.toBe(first);
  await pool.end();
  await database.stop();
  expect(isRunning(second)).toBe(false);
  await rm(folder, { recursive: true });
});
