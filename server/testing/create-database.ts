import { randomUUID } from "node:crypto";
import { newClient } from "#server/platform/db/connections.ts";

/**
 * A database of one test, on a PostgreSQL whose database of an install nobody is connected to.
 * @param server address of any of its databases
 * @param isMigrated false for one without any table
 */
export async function createDatabase(server: string, { isMigrated = true } = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const addressOf = (name: string) => Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const administer = async (sql: string) => {
    const client = newClient({ connectionString: addressOf("postgres") });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  // Its 630 files are copied as they are, not page by page through the log.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${isMigrated ? "treadle" : "template0"} STRATEGY file_copy`);
  return { url: addressOf(name), drop: () => administer(`DROP DATABASE ${name} WITH (FORCE)`) };
}
