import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { z } from "zod";
import { holdDataFolder } from "#server/boot/data-folder.ts";
import { newClient } from "#server/platform/db/connections.ts";
import { log } from "#server/platform/log.ts";
import { freeLeases } from "#server/runs/store/leases.ts";

/** The name of a data folder that is ours, made at its first use. */
function nameOf(folder: string): string {
  const file = join(folder, "name");
  const kept = z.uuid().safeParse(existsSync(file) ? readFileSync(file, "utf8") : undefined);
  if (kept.success) return kept.data;
  const name = randomUUID();
  writeFileSync(file, name, { mode: 0o600 });
  return name;
}

/**
 * Holds a name in the database for as long as this process lives.
 * @returns the connection that holds it, or undefined: another process does
 */
async function holdName(databaseUrl: string, name: string): Promise<pg.Client | undefined> {
  const client = newClient({ connectionString: databaseUrl, keepAlive: true, connectionTimeoutMillis: 5000 });
  await client.connect();
  const { rows } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine", [name]);
  if (rows[0]?.mine) return client;
  await client.end();
  return undefined;
}

/**
 * On a database that other processes may share: takes up at once what the process that worked in this data folder before
 * held when it was killed; otherwise its runs would wait half a minute for their leases to end. That it is dead is proved
 * twice, by the folder, which is ours now, and by the database, where it held its name: a folder on a disk that several
 * machines share says little of theirs. Where either is another's, or the folder cannot be written to, nothing is done, and
 * leases end by themselves.
 * @param dataFolder absolute path; a folder in it is used, so that a process with the embedded database may work there too
 * @returns the folder's name where it is ours, and how to give both back
 */
export async function succeedPredecessor(dataFolder: string, databaseUrl: string): Promise<{ name?: string; giveBack(): Promise<void> }> {
  const folder = join(dataFolder, "process");
  let letGo = () => {};
  try {
    letGo = holdDataFolder(folder);
    const name = nameOf(folder);
    const holder = await holdName(databaseUrl, name);
    if (!holder) {
      letGo();
      return { giveBack: async () => undefined };
    }
    await freeLeases(name);
    return {
      name,
      async giveBack() {
        await holder.end().catch(() => undefined);
        letGo();
      },
    };
  } catch (error) {
    log.debug({ err: error }, "the data folder cannot be held; a process that is killed leaves its runs for half a minute");
    letGo();
    return { giveBack: async () => undefined };
  }
}
