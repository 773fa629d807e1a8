import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "#prisma/generated/client.ts";
import { settings } from "#server/settings.ts";

// One pool and one client for each copy of this module; `next dev` reloads modules, so they hang on globalThis there.
const shared = globalThis as typeof globalThis & { treadleDatabase?: { pool: pg.Pool; db: PrismaClient } };

function open() {
  const { DATABASE_URL, DATABASE_POOL } = settings();
  if (!DATABASE_URL) throw new Error("The database address is not known yet: DATABASE_URL is set by server/main.ts at start.");
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: DATABASE_POOL, connectionTimeoutMillis: 10_000 });
  // An idle connection that the server closes must not end the process; the next query opens another.
  pool.on("error", () => undefined);
  return { pool, db: new PrismaClient({ adapter: new PrismaPg(pool) }) };
}

function connection() {
  shared.treadleDatabase ??= open();
  return shared.treadleDatabase;
}

/** The Prisma client of this process, opened at first use. */
export const db = (): PrismaClient => connection().db;

/** The pool behind it, for the hot paths that are written in SQL (run store, embedded executor). */
export const pool = (): pg.Pool => connection().pool;

/** Closes every connection of this copy. */
export async function closeDatabase(): Promise<void> {
  const open = shared.treadleDatabase;
  delete shared.treadleDatabase;
  await open?.db.$disconnect();
  await open?.pool.end().catch(() => undefined);
}
