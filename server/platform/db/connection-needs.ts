import type pg from "pg";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";

/** Connections of a worker's jobs: one that listens, one that holds locks, the others for jobs to be taken and ended. */
export const JOB_CONNECTIONS = 4;
/** Connections that count requests, in a web process that shares its database. */
export const COUNTING_CONNECTIONS = 2;
/** One for notifications, one that holds the name of the process, one that proves that the server answers. */
const OTHER_CONNECTIONS = 3;

/** Connections to the database that a process of this role opens at most. */
export function connectionsNeeded(role: string): number {
  const jobs = role !== "web" && isEmbeddedExecutor() ? JOB_CONNECTIONS : 0;
  const counting = role === "worker" ? 0 : COUNTING_CONNECTIONS;
  return settings().DATABASE_POOL + jobs + counting + OTHER_CONNECTIONS;
}

interface Capacity {
  server_version: string;
  /** Connections that the server allows this role in this database, by the narrowest of its limits. */
  most: number;
  /** Connections that other processes have open. */
  used: number;
}

const CAPACITY = `
  SELECT current_setting('server_version') AS server_version,
    least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      nullif((SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user), -1),
      nullif((SELECT datconnlimit FROM pg_database WHERE datname = current_database()), -1)
    ) AS most,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`;

/**
 * Compares what a process of this role needs with what the server allows.
 * @returns the version of the server, such as 18.4
 * @throws Error with one sentence when the server does not allow as many
 */
export async function checkConnections(client: pg.Client, role: string): Promise<string> {
  const { rows } = await client.query<Capacity>(CAPACITY);
  const { server_version, most, used } = rows[0] ?? { server_version: "", most: 0, used: 0 };
  const needed = connectionsNeeded(role);
  const others = needed - settings().DATABASE_POOL;

  if (needed > most)
    throw new Error(
      `This process needs ${needed} connections to PostgreSQL (DATABASE_POOL and ${others} more), and the server allows ${most}. Raise max_connections, or the limit of the role or the database${most - others >= 2 ? `, or set DATABASE_POOL to ${most - others} or less` : ""}.`,
    );
  if (needed > most - used)
    log.warn(
      { needed, allowed: most, used },
      "PostgreSQL has fewer connections free than this process may need; requests may wait for one",
    );
  return server_version.split(" ")[0] ?? "";
}
