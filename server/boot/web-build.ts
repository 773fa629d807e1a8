import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compressFiles } from "#server/http/compressed-files.ts";

const SOURCES = ["app", "components", "server", "prisma/schema.prisma", "package-lock.json", "next.config.mjs", "tsconfig.json"];
/** What the build does not read: tests, texts and pictures, and what each type check writes for the next one. */
const IGNORED = /\.(test|spec)\.tsx?$|\.(md|png|tsbuildinfo)$/;

/** SHA-256 over the sources that the web build is made of, so that an update is noticed. */
export function sourceHash(root: string): string {
  const hash = createHash("sha256");
  for (const source of SOURCES) {
    const path = join(root, source);
    if (!existsSync(path)) continue;
    const isFile = /\.\w+$/.test(source);
    const files = isFile
      ? [path]
      : readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) =>
          entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
        );
    for (const file of files.sort()) if (!IGNORED.test(file)) hash.update(file.slice(root.length)).update(readFileSync(file));
  }
  return hash.digest("hex");
}

const stampOf = (root: string) => join(root, ".next/treadle-sources");

/** True when .next holds a build of exactly these sources. */
export function isBuilt(root: string): boolean {
  const stamp = stampOf(root);
  return existsSync(join(root, ".next/BUILD_ID")) && existsSync(stamp) && readFileSync(stamp, "utf8") === sourceHash(root);
}

/**
 * Builds the web app, in a process of its own because it needs much memory for a minute.
 * @throws Error with one sentence and the end of what the build printed
 */
export async function buildWeb(root: string): Promise<void> {
  const lines: string[] = [];
  const code = await new Promise<number | null>((resolve, reject) => {
    const build = spawn(process.execPath, [join(root, "node_modules/next/dist/bin/next"), "build"], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [build.stdout, build.stderr]) stream.on("data", (chunk) => lines.push(String(chunk)));
    build.once("error", reject);
    build.once("exit", resolve);
  });
  if (code !== 0) throw new Error(`The web app could not be built:\n${lines.join("").slice(-4000)}`);
  await compressFiles(join(root, ".next/static"));
  writeFileSync(stampOf(root), sourceHash(root));
}
