import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const OwnSecrets = z.object({ auth_secret: z.string().min(32), encryption_key: z.string().min(32), database_password: z.string().min(20) });
export type OwnSecrets = z.infer<typeof OwnSecrets>;

/**
 * The secrets of an install that brings its own database: made at the first start, kept in the data folder, readable by
 * its owner only. Losing the file loses every stored key, so it is replaced neither when it is damaged nor when it is missing beside a
 * database.
 * @throws Error with one sentence when the file is damaged, or missing while the folder has a database
 */
export function ownSecrets(folder: string): OwnSecrets {
  const file = join(folder, "secrets.json");
  if (!existsSync(file)) {
    // Written before the database is made, so a first start that was interrupted has it.
    if (existsSync(join(folder, "postgres/PG_VERSION")))
      throw new Error(
        `secrets.json is missing in ${folder}: restore it from a backup. It holds the password of the database there and the key of its stored secrets.`,
      );
    const fresh = () => randomBytes(32).toString("base64url");
    const secrets: OwnSecrets = { auth_secret: fresh(), encryption_key: fresh(), database_password: fresh() };
    writeFileSync(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  try {
    return OwnSecrets.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new Error(`The secrets in ${file} cannot be read. Restore the file from a backup: stored keys cannot be opened without it.`);
  }
}
