import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { migrate } from "#server/platform/db/migrate.ts";
import { schemaSql } from "#server/platform/db/schema-engine.ts";
import { log } from "#server/platform/log.ts";
import { RELEASE } from "#server/platform/release.ts";
import { createTestDatabase } from "#server/testing/test-database.ts";

vi.mock("node:child_process", { spy: true });
afterEach(() => {
  vi.unstubAllEnvs();
  vi.mocked(fork).mockClear();
});

// What a database consists of, by query; each gives rows that are equal exactly when the databases are.
const CATALOGUE = {
  columns: `
    SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS required,
           pg_get_expr(d.adbin, d.adrelid) AS default_value, a.attidentity AS identity, a.attgenerated AS generated
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relname <> '_prisma_migrations'
    ORDER BY 1, 2`,
  indexes: `
    SELECT tablename, indexname, indexdef FROM pg_indexes
    WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1, 2`,
  constraints: `
    SELECT conrelid::regclass::text AS table, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND conrelid::regclass::text <> '_prisma_migrations'
    ORDER BY 1, 2`,
  enums: `
    SELECT t.typname, array_agg(e.enumlabel ORDER BY e.enumsortorder)::text AS labels
    FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY 1 ORDER BY 1`,
};

async function catalogueOf(url: string): Promise<Record<string, unknown[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const entries: [string, unknown[]][] = [];
  for (const [name, sql] of Object.entries(CATALOGUE)) entries.push([name, (await client.query(sql)).rows]);
  await client.end();
  return Object.fromEntries(entries);
}

test("the migrations build what schema.prisma describes", async () => {
  const [migrated, described] = await Promise.all([createTestDatabase({ isMigrated: false }), createTestDatabase({ isMigrated: false })]);
  expect(await migrate(migrated.url)).not.toEqual([]);
  const client = new pg.Client({ connectionString: described.url });
  await client.connect();
  await client.query(await schemaSql(described.url));
  await client.end();
  const [built, wanted] = [await catalogueOf(migrated.url), await catalogueOf(described.url)];
  expect(wanted.columns?.length).toBeGreaterThan(100);
  expect(built).toEqual(wanted);
  await Promise.all([migrated.drop(), described.drop()]);
});

test("a migration that broke off half-way is told, not passed over", async () => {
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "UPDATE _prisma_migrations SET finished_at = NULL WHERE started_at = (SELECT max(started_at) FROM _prisma_migrations)",
  );
  await expect(migrate(url)).rejects.toThrow(/failed migrations/);
  // What an operator does about it, once the database is as it should be.
  await client.query("UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL");
  expect(await migrate(url)).toEqual([]);
  await client.end();
  await drop();
});

test("a second start applies nothing, and starts side by side apply each migration once", async () => {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  const applied = await Promise.all([migrate(url), migrate(url)]);
  expect(new Set(applied.flat()).size).toBe(applied.flat().length);
  expect(fork).toHaveBeenCalled();
  vi.mocked(fork).mockClear();
  expect(await migrate(url)).toEqual([]);
  expect(fork).not.toHaveBeenCalled();
  await drop();
});

test("what the environment says about the connection holds for migrations too", async () => {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  const { password } = new URL(url);
  vi.stubEnv("PGPASSWORD", decodeURIComponent(password));
  expect(await migrate(Object.assign(new URL(url), { password: "" }).href)).not.toEqual([]);
  await drop();
});

test("logs how many migrations are pending before each with its duration", async () => {
  const info = vi.spyOn(log, "info");
  const { url, drop } = await createTestDatabase({ isMigrated: false });

  const applied = await migrate(url);

  const [pending, ...each] = info.mock.calls;
  expect(pending).toEqual([{ pending: applied.length }, "database migrations pending"]);
  expect(each).toEqual(applied.map((migration) => [{ migration, duration_ms: expect.any(Number) }, "database migration applied"]));
  info.mockRestore();
  await drop();
});

/** A role without rights of its own, on an empty database; its URL, and how to run statements as the owner. */
async function asNewRole() {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  const role = `app_${randomUUID().replaceAll("-", "")}`;
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'hunter2'`);
  return {
    role,
    owner,
    url: Object.assign(new URL(url), { username: role, password: "hunter2" }).href,
    async drop() {
      await owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
      await owner.end();
      await drop();
    },
  };
}

test("names the grants that a role without CREATE lacks", async () => {
  const { role, url, owner, drop } = await asNewRole();
  const { rows } = await owner.query("SELECT current_database() AS name");
  const grants = `GRANT USAGE, CREATE ON SCHEMA public TO "${role}"; GRANT CREATE ON DATABASE "${rows[0].name}" TO "${role}";`;

  const refused = await migrate(url, ["treadle_worker"]).catch((error: Error) => error);

  expect(refused).toMatchObject({ message: expect.stringMatching(/^The role .* may not create the tables .*, run: /) });
  expect(refused).toMatchObject({ message: expect.stringContaining(grants) });
  expect(String(refused)).not.toContain("hunter2");
  expect(fork).not.toHaveBeenCalled();
  await owner.query(grants);
  expect(await migrate(url, ["treadle_worker"])).not.toEqual([]);
  await drop();
});

/** A database that release 9.0.0 has migrated once more. */
async function newerDatabase(isBreaking: boolean) {
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ('later', '', '29990101000000_later', now(), 1)`,
  );
  await client.query("INSERT INTO migration_releases VALUES ('29990101000000_later', '9.0.0', $1)", [isBreaking]);
  await client.end();
  return { url, drop };
}

test("warns with both releases on a database that a newer one has migrated", async () => {
  const warn = vi.spyOn(log, "warn");
  const { url, drop } = await newerDatabase(false);

  expect(await migrate(url)).toEqual([]);

  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { release: RELEASE, database_release: "9.0.0", migrations: ["29990101000000_later"] },
    expect.stringContaining("newer release"),
  );
  warn.mockRestore();
  await drop();
});

test("refuses a database that a newer release has changed incompatibly", async () => {
  const { url, drop } = await newerDatabase(true);
  await expect(migrate(url)).rejects.toThrow(
    `This is Treadle ${RELEASE}, and its database was changed by 9.0.0 so that older releases cannot run on it (migration 29990101000000_later). Start 9.0.0 or newer, or restore the backup made before the update.`,
  );
  await drop();
});

test("records which release applied a migration, and whether it breaks older ones", async () => {
  // Migrated when the tests began.
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT release, is_breaking FROM migration_releases GROUP BY 1, 2");
  expect(rows).toEqual([{ release: RELEASE, is_breaking: false }]);
  await client.end();
  await drop();
});

test("a start whose migrations are cut off says so", async () => {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  const migrated = migrate(url);
  await expect.poll(() => fork).toHaveBeenCalled();
  vi.mocked(fork).mock.results[0]?.value.kill("SIGKILL");
  await expect(migrated).rejects.toThrow(/has died. Start again/);
  await drop();
});

test("who was here first becomes install admin, and private addresses stay allowed in that person's projects only", async () => {
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    INSERT INTO users (id, email, name, created_at, deleted_at) SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, n || '@example.com', 'N',
      now() + n * interval '1 day', CASE n WHEN 1 THEN now() END FROM generate_series(1, 3) n;
    INSERT INTO projects (id, name, slug, owner_id) SELECT id, 'P', 'p', id FROM users WHERE deleted_at IS NULL;
    INSERT INTO rag_sources (id, project_id, name, type, private_allowed) SELECT id, id, 'R', 'http', true FROM projects;
    INSERT INTO mcp_servers (id, project_id, name, url, private_allowed) SELECT id, id, 'M', 'http://10.0.0.1', true FROM projects;
    INSERT INTO llm_keys (id, project_id, name, provider, sealed_key, masked_key, base_url)
      SELECT id, id, 'K', 'openai_compatible', 'x', 'x', 'http://10.0.0.1' FROM projects;
    INSERT INTO credentials (id, project_id, name, sealed_value) SELECT id, id, 'SEARXNG_URL', 'x' FROM projects;`);
  // The part of the migration that is about data, as the database of the version before had it.
  const script = await readFile(join("prisma/migrations", "20261122181000_install_admins", "migration.sql"), "utf8");
  for (const statement of script.split(";").filter((text) => /^UPDATE/m.test(text))) await client.query(statement);
  const admins = (await client.query("SELECT email FROM users WHERE is_install_admin")).rows;
  expect(admins).toEqual([{ email: "2@example.com" }]);
  for (const table of ["rag_sources", "mcp_servers", "llm_keys", "credentials"]) {
    const { rows } = await client.query(`SELECT private_allowed FROM ${table} ORDER BY id`);
    expect(rows, table).toEqual([{ private_allowed: true }, { private_allowed: false }]);
  }
  await client.end();
  await drop();
});

test("accounts with several projects of one slug call each by another; their own, else the first, keeps it", async () => {
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    INSERT INTO users (id, email, name) SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, n || '@example.com', 'N' FROM generate_series(1, 3) n;
    INSERT INTO projects (id, name, slug, owner_id) SELECT id, 'P', 'p', id FROM users;
    INSERT INTO projects (id, name, slug, owner_id) SELECT '00000000-0000-7000-8000-000000000009', 'P', 'p-3', id FROM users LIMIT 1;
    INSERT INTO memberships (project_id, user_id, role, created_at)
      SELECT p.id, u.id, 'viewer', now() + (right(p.id::text, 1)::int * interval '1 day') FROM users u CROSS JOIN projects p WHERE u.id::text LIKE '%3';`);
  const script = await readFile(join("prisma/migrations", "20261122204000_membership_slugs", "migration.sql"), "utf8");
  for (const statement of script.split(";").filter((text) => /^UPDATE/m.test(text))) await client.query(statement);
  const { rows } = await client.query(
    "SELECT right(m.project_id::text, 1) AS project, coalesce(m.slug, p.slug) AS slug FROM memberships m JOIN projects p ON p.id = m.project_id ORDER BY 1",
  );
  expect(rows).toEqual([
    { project: "1", slug: "p-2" },
    { project: "2", slug: "p-3-000000000002" },
    { project: "3", slug: "p" },
    { project: "9", slug: "p-3" },
  ]);
  await client.end();
  await drop();
});

test("of the accounts of the version before, those of a provider and of install admins are verified, and memberships stay", async () => {
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    INSERT INTO users (id, email, name, password_hash, is_install_admin) SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, n || '@example.com', 'N',
      CASE n WHEN 2 THEN NULL ELSE 'hash' END, n = 1 FROM generate_series(1, 3) n;
    INSERT INTO projects (id, name, slug, owner_id) SELECT id, 'P', 'p', id FROM users;
    INSERT INTO memberships (project_id, user_id, role) SELECT id, id, 'admin' FROM users;`);
  const script = await readFile(join("prisma/migrations", "20261122204500_identity", "migration.sql"), "utf8");
  for (const statement of script.split(";").filter((text) => /^UPDATE/m.test(text))) await client.query(statement);
  const { rows } = await client.query("SELECT email_verified_at IS NOT NULL AS verified, made_through FROM users ORDER BY id");
  expect(rows).toEqual([
    { verified: true, made_through: null },
    { verified: true, made_through: "provider" },
    { verified: false, made_through: null },
  ]);
  expect((await client.query("SELECT * FROM memberships")).rowCount).toBe(3);
  await client.end();
  await drop();
});

test("older service accounts and shared canvases get their creator from the audit log", async () => {
  const { url, drop } = await createTestDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    INSERT INTO users (id, email, name) SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, n || '@example.com', 'N' FROM generate_series(1, 2) n;
    INSERT INTO projects (id, name, slug, owner_id) SELECT id, 'P', 'p', id FROM users;
    INSERT INTO users (id, email, name, service_project_id)
      SELECT ('00000000-0000-7000-8000-00000000001' || right(id::text, 1))::uuid, 's' || email, 'S', id FROM users;
    INSERT INTO canvases (id, project_id, name, share_token_hash) SELECT id, id, 'C', id::text FROM projects;
    INSERT INTO audit_log (id, project_id, actor_id, actor_email, via, action, resource_type, resource_id)
      SELECT gen_random_uuid(), service_project_id, service_project_id, '', 'session', 'service_account.create', 'service_account', id::text
      FROM users WHERE service_project_id::text LIKE '%1';
    INSERT INTO audit_log (id, project_id, actor_id, actor_email, via, action, resource_type, resource_id)
      SELECT ('00000000-0000-7000-8000-00000000002' || n)::uuid, c.id, ('00000000-0000-7000-8000-00000000000' || n)::uuid, '', 'session', 'canvas.share',
        'canvas', c.id::text FROM canvases c CROSS JOIN generate_series(1, 2) n WHERE c.id::text LIKE '%1';`);
  const script = await readFile(join("prisma/migrations", "20261129200000_put_aside", "migration.sql"), "utf8");
  for (const statement of script.split(";").filter((text) => /^UPDATE/m.test(text))) await client.query(statement);
  const ends = (column: string, table: string, where: string) =>
    client
      .query(`SELECT right(${column}::text, 1) AS by FROM ${table} WHERE ${where} ORDER BY id`)
      .then(({ rows }) => rows.map(({ by }) => by));
  expect(await ends("made_by_id", "users", "service_project_id IS NOT NULL")).toEqual(["1", null]);
  expect(await ends("shared_by_id", "canvases", "true")).toEqual(["2", null]);
  await client.end();
  await drop();
});
