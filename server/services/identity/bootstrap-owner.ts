import { db } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import { hashPassword, storedPlatformKey } from "#server/secrets.ts";
import { hasOwner, insertFirstOwner } from "#server/services/identity/insert-first-owner.ts";
import { type Settings, settings } from "#server/settings.ts";

/**
 * Headless start: creates owner, project and API key from the BOOTSTRAP_ settings when no user exists, and does nothing
 * afterwards.
 * @returns true when the owner was created now
 * @throws Error with one sentence when only some of the settings are there
 */
export async function bootstrapOwner(
  given: Pick<Settings, "BOOTSTRAP_EMAIL" | "BOOTSTRAP_PASSWORD" | "BOOTSTRAP_API_KEY"> = settings(),
): Promise<boolean> {
  const { BOOTSTRAP_EMAIL: email, BOOTSTRAP_PASSWORD: password, BOOTSTRAP_API_KEY: key } = given;
  if (!email && !password && !key) return false;
  if (!email || !password) throw new Error("A headless start needs both BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD.");
  if (await hasOwner()) return false;
  const password_hash = await hashPassword(password);
  const name = email.split("@")[0] ?? email;
  return db().$transaction(async (tx) => {
    const owner = await insertFirstOwner(tx, { email, name, password_hash, made_through: "bootstrap" });
    if (!owner) return false;
    if (key) await tx.platformKey.create({ data: { user_id: owner.user.id, name: "Bootstrap key", ...storedPlatformKey(key) } });
    log.info(
      { user_id: owner.user.id, project_id: owner.project.id, has_key: key !== undefined },
      "owner created from the BOOTSTRAP settings",
    );
    return true;
  });
}
