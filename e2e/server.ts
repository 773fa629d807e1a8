import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "#e2e/until.ts";
import { freePort } from "#server/platform/db/embedded.ts";

const root = join(import.meta.dirname, "..");
const { start } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts as { start: string };
/** What `npm start` gives to Node in its last step: flags, then the program. */
export const START_ARGUMENTS = start.slice(start.lastIndexOf(" node ") + " node ".length).split(" ");
/**
 * What servers of tests get besides (not those of the benchmark): a heap that begins with so many MB, since most of them are stopped
 * before it is full. It saves a sixth of what a start costs.
 */
const SHORT_LIFE = ["--initial-heap-size=256"];
/** Starting may build the web app first, when nobody has. */
const START_MS = 300_000;
const STOP_MS = 30_000;

export interface StartOptions {
  /** Settings beyond those that every start here gets. */
  env?: Record<string, string>;
  /** A folder to go on with; left out, one of its own that is removed in the end. */
  dataDir?: string;
  port?: number;
  /** Folder of a built checkout to start; left out, this one. */
  folder?: string;
  /** In a process group of its own, as a shell starts it: what goes to `-pid` then reaches its children too. */
  ownGroup?: boolean;
  /** Only this part of it, as `npm start -- --role …`; it needs DATABASE_URL and the secrets in `env`. */
  role?: "web" | "worker";
}

export interface Treadle {
  /** Address without a trailing slash; of a worker, which serves none, "". */
  url: string;
  port: number;
  pid: number;
  dataDir: string;
  /** Everything that the process has printed. */
  logs(): string;
  /** SIGTERM, and waits for the end; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL to the process alone: its PostgreSQL is left behind, as in a crash. */
  kill9(): Promise<void>;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** True while there is a process of this id, also one that has ended and was not waited for. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Process id of the PostgreSQL that runs in a data folder, if one does. */
export function postgresOf(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
    return pid && isAlive(pid) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Address of the database that a server keeps in its data folder; left out, the server at BASE_URL. */
export function databaseUrl(folder = process.env.SERVER_DATA_DIR): string {
  if (!folder) throw new Error("Set SERVER_DATA_DIR to the data folder of the server at BASE_URL.");
  const { database_password } = JSON.parse(readFileSync(join(folder, "secrets.json"), "utf8"));
  const port = readFileSync(join(folder, "postgres/postmaster.pid"), "utf8").split("\n")[3];
  return `postgres://treadle:${encodeURIComponent(database_password)}@127.0.0.1:${port}/treadle`;
}

const folders = new Set<string>();
const running = new Set<ChildProcess>();

/** A data folder that the account of PostgreSQL can pass through; removed when this process ends. */
export function newDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "treadle-e2e-"));
  chmodSync(folder, 0o755);
  folders.add(folder);
  return folder;
}

/** The same as a first start leaves it, without an owner (data-template.ts); where no such one was made, empty. */
export function preparedDataDir(): string {
  const folder = newDataDir();
  const { DATA_TEMPLATE } = process.env;
  // With owners and modes: PostgreSQL looks at those of its files.
  if (DATA_TEMPLATE) execFileSync("cp", ["-Rp", `${DATA_TEMPLATE}/.`, folder]);
  return folder;
}

/** Whoever has a database brings no files of one. */
const ownDataDir = ({ env, dataDir }: StartOptions): string => dataDir ?? (env?.DATABASE_URL ? newDataDir() : preparedDataDir());

/** Ends what still runs in a data folder (a killed start leaves its PostgreSQL behind) and removes it. */
function removeDataDir(folder: string): void {
  const postgres = postgresOf(folder);
  if (postgres) process.kill(postgres, "SIGQUIT");
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    folders.delete(folder);
  } catch {
    // A database that is still closing writes its last files; the next try is at the end of this process.
  }
}

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) removeDataDir(folder);
});

function launch({ env = {}, dataDir, port, folder = root, role, ownGroup = false }: StartOptions & { dataDir: string; port: number }) {
  // Nothing of the surrounding shell gets in: a developer's DATABASE_URL is not a test database.
  const { PATH = "", HOME = "", TMPDIR, NODE_COMPILE_CACHE, DATA_TEMPLATE } = process.env;
  // A run of tests has made a data folder to copy (data-template.ts).
  const child = spawn(process.execPath, [...(DATA_TEMPLATE ? SHORT_LIFE : []), ...START_ARGUMENTS, ...(role ? ["--role", role] : [])], {
    cwd: folder,
    env: {
      PATH,
      HOME,
      ...(TMPDIR && { TMPDIR }),
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
      PORT: String(port),
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
      ...(DATA_TEMPLATE && { CHECK_HELD_CONNECTIONS: "1" }),
      ...env,
    } as Record<string, string> as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "pipe"],
    detached: ownGroup,
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
    });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, printed, ended };
}

/**
 * A start that is expected to end: its exit code and what it printed.
 * @param meanwhile what happens to it while it starts
 */
export async function startAndEnd(options: StartOptions = {}, meanwhile?: (pid: number) => Promise<void>): Promise<Ended> {
  const dataDir = ownDataDir(options);
  const { child, printed, ended } = launch({ ...options, dataDir, port: options.port ?? (await freePort()) });
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  try {
    // A start that ends too soon is told by its code and words.
    await Promise.race([meanwhile?.(child.pid ?? 0), ended]);
    await ended;
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
  const code = await ended;
  if (!options.dataDir) removeDataDir(dataDir);
  return { code, ...printed };
}

/**
 * Starts the product as `npm start` does and waits for the line that says its address.
 * @throws Error with what was printed when it ends instead
 */
export async function startTreadle(options: StartOptions = {}): Promise<Treadle> {
  const dataDir = ownDataDir(options);
  const port = options.port ?? (await freePort());
  const { child, printed, ended } = launch({ ...options, dataDir, port });
  const logs = () => printed.stdout + printed.stderr;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const ready = await until(
    () => /^Treadle is ready at (\S+)$|^Treadle's worker is ready$/m.exec(printed.stdout) ?? (hasEnded() ? "ended" : undefined),
    START_MS,
  );
  if (ready === "ended") {
    if (!options.dataDir) removeDataDir(dataDir);
    throw new Error(`Treadle did not start:\n${logs()}`);
  }
  return {
    url: ready[1] ?? "",
    port,
    pid: child.pid ?? 0,
    dataDir,
    logs,
    async stop() {
      if (!hasEnded()) child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      const code = await ended;
      clearTimeout(timer);
      if (!options.dataDir) removeDataDir(dataDir);
      return code;
    },
    async kill9() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
