import { join } from "node:path";
import { holdDataFolder } from "#server/boot/data-folder.ts";
import { ownSecrets } from "#server/boot/own-secrets.ts";
import { newClient } from "#server/platform/db/connections.ts";
import { startEmbeddedDatabase } from "#server/platform/db/embedded.ts";
import { dataDir, type GivenSettings, settings } from "#server/platform/settings.ts";

/**
 * Proves that the server answers and has connections for a process of this role.
 * @returns its version, such as 18.4
 * @throws Error with one sentence that names host and port, never the password
 */
async function probe(url: string, role: string): Promise<string> {
  const client = newClient({ connectionString: url, connectionTimeoutMillis: 5000 });
  try {
    await client.connect();
  } catch (error) {
    const where = URL.canParse(url) ? new URL(url).host : "the given address";
    const { code, message } = error as Error & { code?: string };
    throw new Error(
      `The database at ${where} cannot be reached (${message || code || "no answer"}). Check DATABASE_URL and that the server runs.`,
    );
  }
  try {
    // Loaded only now: it logs, and the log reads the settings.
    const { checkConnections } = await import("#server/platform/db/connection-needs.ts");
    return await checkConnections(client, role);
  } finally {
    await client.end();
  }
}

interface OpenDatabase {
  /** Its address, and the secrets that belong to it, where they are not in the environment. */
  found: GivenSettings;
  /** Kind and version of the server, such as "PostgreSQL 18.4 (embedded)". */
  product: string;
  /** Stops what was started. */
  close(): Promise<void>;
}

/**
 * The database of this start: the one that DATABASE_URL names, else our own in DATA_DIR.
 * @param role all, web or worker
 * @throws Error with one sentence that says what to do
 */
export async function openDatabase(role: string): Promise<OpenDatabase> {
  const { DATABASE_URL, AUTH_SECRET, ENCRYPTION_KEY } = settings();
  if (DATABASE_URL) {
    const missing = Object.entries({ AUTH_SECRET, ENCRYPTION_KEY }).flatMap(([name, value]) => (value ? [] : [name]));
    if (missing.length)
      throw new Error(
        `With DATABASE_URL set, ${missing.join(" and ")} must be set too, to at least 32 characters that every process of the install shares.`,
      );
    return { found: {}, product: `PostgreSQL ${await probe(DATABASE_URL, role)}`, close: async () => undefined };
  }
  const folder = dataDir();
  const letGo = holdDataFolder(folder);
  try {
    const secrets = ownSecrets(folder);
    const database = await startEmbeddedDatabase(join(folder, "postgres"), secrets.database_password);
    return {
      product: `PostgreSQL ${await probe(database.url, role)} (embedded)`,
      found: {
        DATABASE_URL: database.url,
        TREADLE_EMBEDDED_DATABASE: "1",
        AUTH_SECRET: AUTH_SECRET ?? secrets.auth_secret,
        ENCRYPTION_KEY: ENCRYPTION_KEY ?? secrets.encryption_key,
      },
      async close() {
        await database.stop();
        letGo();
      },
    };
  } catch (error) {
    letGo();
    throw error;
  }
}
