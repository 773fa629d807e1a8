import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { closeDatabase, db } from "#server/db/client.ts";
import { startEmbeddedDatabase } from "#server/db/embedded.ts";
import { migrate } from "#server/db/migrate.ts";
import { insertProject } from "#server/services/projects/insert-project.ts";
import { publishSettings } from "#server/settings.ts";

export interface TestDatabase {
  /** A new user who is admin of a new project. */
  newAdmin(): Promise<ProjectPrincipal>;
  stop(): Promise<void>;
}

/** A real PostgreSQL of one test file, migrated and empty; `db()` leads there. */
export async function startTestDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "treadle-test-"));
  // As root the server runs under another account, which must be able to pass through.
  await chmod(folder, 0o755);
  const server = await startEmbeddedDatabase(join(folder, "database"), "test");
  publishSettings({ DATABASE_URL: server.url, ENCRYPTION_KEY: "k".repeat(32), ALLOW_PRIVATE_NETWORK: "1" });
  await migrate(server.url);
  let count = 0;
  return {
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
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
