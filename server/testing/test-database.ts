import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { closeDatabase, db } from "#server/db/client.ts";
import { insertProject } from "#server/services/projects/insert-project.ts";
import { publishSettings } from "#server/settings.ts";

export interface TestDatabase {
  url: string;
  /** A new user who is admin of a new project. */
  newAdmin(): Promise<ProjectPrincipal>;
  stop(): Promise<void>;
}

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: addressOf("postgres") });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

const addressOf = (name: string): string => Object.assign(new URL(inject("templateDatabaseUrl")), { pathname: `/${name}` }).href;

/**
 * A database of one test file on the run's PostgreSQL.
 * @param isMigrated false for one without any table
 */
export async function createTestDatabase({ isMigrated = true } = {}): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${isMigrated ? "treadle" : "template0"}`);
  return { url: addressOf(name), drop: () => administer(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** A real PostgreSQL database of one test file, migrated and empty; `db()` leads there. */
export async function startTestDatabase(): Promise<TestDatabase> {
  const { url, drop } = await createTestDatabase();
  publishSettings({
    DATABASE_URL: url,
    ENCRYPTION_KEY: "encryption key of the tests, 32 and more",
    AUTH_SECRET: "auth secret of the tests, of 32 and more",
    ALLOW_PRIVATE_NETWORK: "1",
  });
  let count = 0;
  return {
    url,
    async newAdmin() {
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
    async stop() {
      await closeDatabase();
      await drop();
    },
  };
}
