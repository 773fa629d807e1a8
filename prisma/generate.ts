import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Writes the Prisma client when schema.prisma or Prisma has changed since the last time; otherwise costs a few milliseconds.

const here = import.meta.dirname;
const root = join(here, "..");
const stamp = join(here, "generated/.stamp");
const hash = createHash("sha256")
  .update(readFileSync(join(here, "schema.prisma")))
  .update(readFileSync(join(root, "node_modules/@prisma/client/package.json")))
  .digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== hash) {
  const cli = join(root, "node_modules/prisma/build/index.js");
  // `generate` needs no schema engine but asks for one, and would download it; any existing file satisfies it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: join(root, "package.json"), PRISMA_HIDE_UPDATE_MESSAGE: "1" };
  const run = spawnSync(process.execPath, [cli, "generate", "--config", join(here, "prisma.config.ts"), "--no-hints"], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  if (run.status !== 0) {
    process.stderr.write(`The database client could not be generated:\n${run.stdout}${run.stderr}`);
    process.exit(1);
  }
  writeFileSync(stamp, hash);
}
