import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import type { SchemaEngine as Engine, MigrationList } from "@prisma/schema-engine-wasm";
import { newPool } from "#server/platform/db/connections.ts";

const require = createRequire(import.meta.url);

/** The folder of prisma/ beside the running code. */
const prismaDir = join(import.meta.dirname, "../../../prisma");

const filters = { externalTables: [], externalEnums: [] };

type Glue = typeof import("@prisma/schema-engine-wasm/schema_engine_bg");
let loading: Promise<Glue> | undefined;

/** Prisma's schema engine as WebAssembly, loaded once: its glue code holds one instance. The native engine would have to be downloaded. */
async function loadGlue(): Promise<Glue> {
  const glue = await import("@prisma/schema-engine-wasm/schema_engine_bg");
  const file = join(dirname(require.resolve("@prisma/schema-engine-wasm/schema_engine_bg")), "schema_engine_bg.wasm");
  const module = await WebAssembly.compile(new Uint8Array(await readFile(file)));
  const instance = await WebAssembly.instantiate(module, { "./schema_engine_bg.js": glue as unknown as WebAssembly.ModuleImports });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start: () => void }).__wbindgen_start();
  return glue;
}

/** Lends a schema engine to `use`. Its connections are closed afterwards: one of them holds Prisma's migration lock until then. */
async function withEngine<Result>(databaseUrl: string, use: (engine: Engine) => Promise<Result>): Promise<Result> {
  loading ??= loadGlue();
  const { SchemaEngine } = await loading;
  const schema = await readFile(join(prismaDir, "schema.prisma"), "utf8");
  const pool = newPool({ connectionString: databaseUrl });
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
    const engine = await SchemaEngine.new({ datamodels: [["schema.prisma", schema]] }, () => undefined, adapter);
    return await use(engine).finally(() => engine.free());
  } finally {
    await pool.end();
  }
}

const migrationsDir = join(prismaDir, "migrations");

/** The names of the migrations in prisma/migrations, oldest first. */
export async function migrationNames(): Promise<string[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

/** Text of one migration. */
const migrationSql = (name: string): Promise<string> => readFile(join(migrationsDir, name, "migration.sql"), "utf8");

/** First line of a migration after which older releases cannot run on the database. */
const BREAKING = /^-- Breaks older releases\b/;

/** True when a migration of this release is marked as one that older releases cannot run with. */
export const isBreaking = async (name: string): Promise<boolean> => BREAKING.test(await migrationSql(name));

async function migrationList(names: readonly string[]): Promise<MigrationList> {
  const directories = await Promise.all(
    names.map(async (name) => ({
      path: name,
      migrationFile: { path: "migration.sql", content: { tag: "ok" as const, value: await migrationSql(name) } },
    })),
  );
  return {
    baseDir: migrationsDir,
    lockfile: { path: "./migration_lock.toml", content: 'provider = "postgresql"\n' },
    migrationDirectories: directories,
    shadowDbInitScript: "",
  };
}

/**
 * Applies migrations of prisma/migrations that the database does not have yet, one after the other, and records them in Prisma's own
 * `_prisma_migrations` table. Safe to call from several processes: Prisma takes an advisory lock.
 * @param pending names, oldest first; those that another process applies meanwhile are skipped
 * @param onApplied gets each name when it is applied, with the milliseconds that it took
 * @throws Error when a migration fails
 */
export async function applyMigrations(
  databaseUrl: string,
  pending: readonly string[],
  onApplied: (name: string, ms: number) => void,
): Promise<void> {
  const names = await migrationNames();

  await withEngine(databaseUrl, async (engine) => {
    for (const name of pending) {
      const begun = performance.now();
      const migrationsList = await migrationList(names.slice(0, names.indexOf(name) + 1));
      const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters });
      if (appliedMigrationNames.includes(name)) onApplied(name, Math.round(performance.now() - begun));
    }
  });
}

/**
 * The SQL that builds schema.prisma from nothing. A new migration is written from it, and a test compares what it
 * builds with what prisma/migrations builds (the engine's own comparison cannot read a live schema through the
 * adapter: "Column type 'char' could not be deserialized").
 */
export async function schemaSql(databaseUrl: string): Promise<string> {
  const content = await readFile(join(prismaDir, "schema.prisma"), "utf8");
  const result = await withEngine(databaseUrl, (engine) =>
    engine.diff({
      from: { tag: "empty" },
      to: { tag: "schemaDatamodel", files: [{ path: "schema.prisma", content }] },
      script: true,
      exitCode: null,
      filters,
    }),
  );
  return result.stdout ?? "";
}
