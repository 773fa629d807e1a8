import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownSecrets } from "#server/boot/own-secrets.ts";
import { startTestPostgres } from "#server/testing/test-postgres.ts";

/**
 * Makes the data folder of an install that nobody has set up yet: every server of a run of tests begins with a copy. To make
 * one takes most of a first start, which system/boot.spec.ts goes through by itself. What servers load they also find compiled.
 */
export default async function makeDataTemplate(): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "treadle-template-"));
  chmodSync(folder, 0o755);
  const { stop } = await startTestPostgres(join(folder, "postgres"), ownSecrets(folder).database_password);
  await stop();
  process.env.DATA_TEMPLATE = folder;
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "artifacts/compile-cache");
  return () => rmSync(folder, { recursive: true, force: true });
}
