import pg from "pg";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { startTreadle } from "#e2e/server.ts";
import { startOwnPostgres } from "#e2e/system/own-postgres.ts";

interface OwnService {
  url: string;
  api: ApiClient;
  /** Address of its database, and a connection to it. */
  database: string;
  client: pg.Client;
}

/** Lends a service that has a PostgreSQL of its own, and nothing in it. */
export async function withOwnService<Result>(
  { env, key }: { env: Record<string, string>; key: string },
  work: (service: OwnService) => Promise<Result>,
): Promise<Result> {
  const postgres = await startOwnPostgres();
  const secrets = { AUTH_SECRET: "auth secret of the benchmark, 32 and more", ENCRYPTION_KEY: "encryption key of the benchmark, 32 +" };
  const treadle = await startTreadle({ env: { ...env, ...secrets, DATABASE_URL: postgres.url } });
  const client = new pg.Client({ connectionString: postgres.url });
  try {
    await client.connect();
    return await work({ url: treadle.url, api: apiClient({ url: treadle.url, key }), database: postgres.url, client });
  } finally {
    await client.end();
    await treadle.stop();
    await postgres.stop();
  }
}
