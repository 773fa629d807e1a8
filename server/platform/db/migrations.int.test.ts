import { fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { migrate } from "#server/platform/db/migrate.ts";
import { schemaSql } from "#server/platform/db/schema-engine.ts";
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
