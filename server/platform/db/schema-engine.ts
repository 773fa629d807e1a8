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

async function migrationList(): Promise<MigrationList> {
  const directories = await Promise.all(
    (await migrationNames()).map(async (name) => ({
      path: name,
      migrationFile: {
        path: "migration.sql",
        content: { tag: "ok" as const, value: await readFile(join(migrationsDir, name, "migration.sql"), "utf8") },
      },
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
 * Applies the migrations of prisma/migrations that the database does not have yet, and records them in Prisma's own
 * `_prisma_migrations` table. Safe to call from several processes: Prisma takes an advisory lock.
 * @returns the names of the migrations applied now
 * @throws Error when a migration fails
 */
export async function applyMigrations(databaseUrl: string): Promise<string[]> {
  const migrationsList = await migrationList();
  const result = await withEngine(databaseUrl, (engine) => engine.applyMigrations({ migrationsList, filters }));
  return result.appliedMigrationNames;
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
