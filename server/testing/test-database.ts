import { afterEach, beforeAll, expect, inject } from "vitest";
import { insertProject } from "#server/features/projects/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { closeDatabase, db } from "#server/platform/db/client.ts";
import { takeRefusals } from "#server/platform/db/held-connection.ts";
import { closeNotifications } from "#server/platform/db/notify.ts";
import { setSettings } from "#server/platform/settings.ts";
import { createDatabase } from "#server/testing/create-database.ts";

export interface TestDatabase {
  /** A new user who is admin of a new project. */
  newAdmin(): Promise<ProjectPrincipal>;
  /** The same, who is also an admin of the install. */
  newInstallAdmin(): Promise<ProjectPrincipal>;
}

/**
 * A database of one test file on the run's PostgreSQL.
 * @param isMigrated false for one without any table
 */
export const createTestDatabase = (options?: { isMigrated: boolean }) => createDatabase(inject("templateDatabaseUrl"), options);

/**
 * Gives a test file a real PostgreSQL database of its own, migrated and empty; `db()` leads there. To be called above the
 * file's other hooks: the database is there before all of them, and goes after all of them.
 */
export function testDatabase(): TestDatabase {
  beforeAll(async () => {
    const { url, drop } = await createTestDatabase();
    setSettings({
      DATABASE_URL: url,
      ENCRYPTION_KEY: "encryption key of the tests, 32 and more",
      AUTH_SECRET: "auth secret of the tests, of 32 and more",
      ALLOW_PRIVATE_NETWORK: "1",
    });
    return async () => {
      await closeNotifications();
      await closeDatabase();
      await drop();
    };
  });
  afterEach(() => expect(takeRefusals()).toEqual([]));
  let count = 0;
  const one = {
    async newInstallAdmin() {
      const admin = await one.newAdmin();
      await db().user.update({ where: { id: admin.user.id }, data: { is_install_admin: true } });
      return admin;
    },
    async newAdmin(): Promise<ProjectPrincipal> {
      count += 1;
      const user = await db().user.create({ data: { email: `admin-${count}@example.com`, name: `Admin ${count}` } });
      const project = await db().$transaction((tx) => insertProject(tx, user.id, { name: `Project ${count}` }));
      const { id, name, slug } = project;
      return {
        user: { id: user.id, email: user.email, name: user.name },
        auth: { type: "session" },
        project: { id, name, slug },
        role: "admin",
      };
    },
  };
  return one;
}
