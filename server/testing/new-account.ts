import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import { insertAccount } from "#server/features/identity/new-account.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { insertFirstProject } from "#server/features/projects/service.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { quickHash } from "#server/testing/quick-hash.ts";

/** Somebody with an account, a project of which he or she is admin, and a platform key. */
export interface NewAccount {
  id: string;
  email: string;
  password: string;
  project: { id: string; slug: string; name: string };
  key: string;
  /** What the cookie of a signed-in browser holds. */
  session: string;
}

/**
 * Somebody who might have signed up and in just now. Made in the database: over the doors, which have tests of their own, it takes
 * several times as long, and nearly every test begins with somebody new.
 */
export async function newAccount(): Promise<NewAccount> {
  const password = randomUUID();
  const account = { email: `${randomUUID()}@example.com`, name: "Robin Weaver", password_hash: await quickHash(password) };
  const { user, project } = await db().$transaction(async (tx) => {
    const user = await insertAccount(tx, { ...account, made_through: "sign_up", is_verified: false });
    return { user, project: await insertFirstProject(tx, user) };
  });
  const { key } = await createPlatformKey({ user, auth: { type: "session" } }, { name: "spec" });
  const token = { sub: user.id, sid: randomUUID(), password_mark: passwordMark(account.password_hash) };
  const { id, slug, name } = project;
  const session = await encode({ token, secret: settings().AUTH_SECRET ?? "" });
  return { id: user.id, email: user.email, password, project: { id, slug, name }, key, session };
}
