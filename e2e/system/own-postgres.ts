import { join } from "node:path";
import { postgresOf, preparedDataDir } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";
import { ownSecrets } from "#server/boot/own-secrets.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import { startPostmaster } from "#server/platform/db/postmaster.ts";
import { createDatabase } from "#server/testing/create-database.ts";

/** A PostgreSQL of one test, on one port through all its lives. */
export interface OwnPostgres {
  /** postgres:// address of its database. */
  url: string;
  /** SIGKILL to the postmaster: nothing is written any more, connections are cut, whatever was only in memory is gone. */
  kill9(): Promise<void>;
  /** Starts it again on the same files. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A PostgreSQL of one test, with the database of an install in it. A test that neither kills nor fills it takes a database (newDatabase). */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const [dataDir, port] = [preparedDataDir(), await freePort()];
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
  const flags = ["-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])];
  const start = () => startPostmaster(join(dataDir, "postgres"), flags, () => undefined);
  let stop = await start();
  return {
    url: `postgres://treadle:${ownSecrets(dataDir).database_password}@127.0.0.1:${port}/treadle`,
    async kill9() {
      const pid = postgresOf(dataDir);
      if (!pid) throw new Error("The PostgreSQL of this test does not run.");
      process.kill(pid, "SIGKILL");
      await until(() => postgresOf(dataDir) === undefined);
    },
    // Its children end by themselves a moment after the postmaster, and until then it does not start.
    async restart() {
      stop = await until(start);
    },
    stop: () => stop(),
  };
}

let shared: Promise<OwnPostgres> | undefined;

/** A database of one test, migrated and empty, on a PostgreSQL that the tests of this process share; it is ended with the process. */
export async function newDatabase(): Promise<Pick<OwnPostgres, "url" | "stop">> {
  shared ??= startOwnPostgres();
  const { url, drop } = await createDatabase((await shared).url);
  return { url, stop: drop };
}
