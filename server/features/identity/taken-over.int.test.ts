import { afterEach, expect, test } from "vitest";
import { changePassword } from "#server/features/identity/profile.ts";
import { signInWithPassword } from "#server/features/identity/sign-in.ts";
import { signUp } from "#server/features/identity/sign-up.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { provenAddress } from "#server/features/security/proven-address.ts";
import { KeyScope } from "#server/platform/auth/platform-key-schema.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { hashPassword, storedPlatformKey } from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ ALLOW_SIGNUP: "0" }));

const password = "correct horse battery";

/** Takes the account over while `work` is under way, which has seen it as it was and waits for its row. */
async function takenOverDuring<Value>(user_id: string, work: () => Promise<Value>): Promise<unknown> {
  return db()
    .$transaction(
      async (tx) => {
        await tx.user.update({ where: { id: user_id }, data: { email_verified_at: null } });
        await provenAddress(tx, user_id, { by: "provider" });
        const outcome = asOtherCaller(work).catch(({ code }) => code);
        const waiting = async () =>
          await db()
            .$queryRaw`SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE NOT l.granted AND a.datname = current_database()`;
        await expect.poll(() => asOtherCaller(waiting)).toHaveLength(1);
        return { outcome };
      },
      { timeout: 30_000 },
    )
    .then(({ outcome }) => outcome);
}

test("nothing that was under way when an account changed hands leaves its password or a key of it behind", async () => {
  await database.newAdmin();
  setSettings({ ALLOW_SIGNUP: "1" });
  const user = await signUp({ email: "handed@example.com", name: "Handed", password });
  const opened = await signInWithPassword(user.email, password, "x");
  const squatter: Principal = { user, auth: { type: "session", ...(opened && { password_mark: opened.password_mark }) } };
  const change = () => changePassword(squatter, { current_password: password, new_password: "the squatter's next one" });
  expect(await takenOverDuring(user.id, change)).toBe("CONFLICT");
  expect(await db().user.findUnique({ where: { id: user.id } })).toMatchObject({ password_hash: null });
  await db().user.update({ where: { id: user.id }, data: { password_hash: await hashPassword(password) } });
  const again = await signInWithPassword(user.email, password, "x");
  const session: Principal = { user, auth: { type: "session", ...(again && { password_mark: again.password_mark }) } };
  expect(await takenOverDuring(user.id, () => createPlatformKey(session, { name: "CI" }))).toBe("AUTH_REQUIRED");
  const { id: key_id } = await db().platformKey.create({
    data: { user_id: user.id, name: "CI", ...storedPlatformKey(`sk-service-${"h".repeat(43)}`) },
  });
  const byKey: Principal = { user, auth: { type: "platform_key", key_id, scopes: KeyScope.options, project_ids: null, expires_at: null } };
  expect(await takenOverDuring(user.id, () => createPlatformKey(byKey, { name: "CI" }))).toBe("AUTH_REQUIRED");
  expect(await db().platformKey.count({ where: { user_id: user.id } })).toBe(0);
});
