import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { reasonOf } from "#server/platform/db/embedded.ts";

test("a process that knows how to start a database ends with the exit code that it has set", () => {
  const script = 'await import("#server/platform/db/embedded.ts"); process.exitCode = 3;';
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect([status, stderr]).toEqual([3, ""]);
});

const FULL = `2026-11-29 10:00:00.000 UTC [9] LOG:  starting PostgreSQL 18.4
2026-11-29 10:00:00.100 UTC [12] PANIC:  could not write to file "pg_wal/xlogtemp.12": No space left on device
2026-11-29 10:00:00.200 UTC [9] LOG:  startup process (PID 12) was terminated by signal 6: Aborted
2026-11-29 10:00:00.300 UTC [9] LOG:  database system is shut down`;
const FOREIGN = `2026-11-29 10:00:00.000 UTC [9] FATAL:  database files are incompatible with server
2026-11-29 10:00:00.000 UTC [9] DETAIL:  The data directory was initialized by PostgreSQL version 15.
2026-11-29 10:00:00.300 UTC [9] LOG:  database system is shut down`;

test.each([
  [
    "a full disk",
    FULL,
    'the disk is full (could not write to file "pg_wal/xlogtemp.12": No space left on device). Free space and start again.',
  ],
  ["files of another version", FOREIGN, "database files are incompatible with server"],
  ["nothing that it knows", "initdb: out of memory", "initdb: out of memory"],
])("the reason for not starting is found after %s", (_, printed, reason) => expect(reasonOf(printed)).toBe(reason));
