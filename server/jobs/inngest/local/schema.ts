import type pg from "pg";
import { DRIVE_SQL } from "#server/jobs/inngest/local/schema-drive.ts";
import { INGEST_SQL } from "#server/jobs/inngest/local/schema-ingest.ts";
import { TABLES_SQL } from "#server/jobs/inngest/local/schema-tables.ts";
import { FAIR_SQL, TAKE_SQL } from "#server/jobs/inngest/local/schema-take.ts";

// Each entry is applied once, in order; an entry that has shipped is never changed, later ones replace its functions.
const VERSIONS = [TABLES_SQL + INGEST_SQL + DRIVE_SQL, TAKE_SQL, FAIR_SQL];

/**
 * Brings the schema `treadle_jobs` to the version of this code. Idempotent; processes that do it at once wait for
 * each other. A database that is already newer is left alone.
 * @throws the database's error when the role may not create a schema or the database is away
 */
export async function installJobSchema(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(7411, 1)");
    const { rows } = await client.query<{ found: boolean }>("SELECT to_regclass('treadle_jobs.meta') IS NOT NULL AS found");
    if (!rows[0]?.found)
      await client.query(`
        CREATE SCHEMA IF NOT EXISTS treadle_jobs;
        CREATE TABLE treadle_jobs.meta (
          one boolean PRIMARY KEY DEFAULT true CHECK (one),
          schema_version int NOT NULL,
          registry_version bigint NOT NULL
        );
        INSERT INTO treadle_jobs.meta (schema_version, registry_version) VALUES (0, 0);`);
    const version = await client.query<{ schema_version: number }>("SELECT schema_version FROM treadle_jobs.meta");
    const installed = version.rows[0]?.schema_version ?? 0;
    if (installed < VERSIONS.length) {
      for (const sql of VERSIONS.slice(installed)) await client.query(sql);
      await client.query("UPDATE treadle_jobs.meta SET schema_version = $1", [VERSIONS.length]);
    }
    await client.query("COMMIT");
  } catch (error) {
    broken = error instanceof Error ? error : new Error(String(error));
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  } finally {
    client.release(broken);
  }
}
