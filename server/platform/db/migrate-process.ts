import { applyMigrations } from "#server/platform/db/schema-engine.ts";
import { messageOf } from "#server/platform/errors.ts";

// A program of its own, started by migrate.ts: gets the address of a database over IPC, applies the migrations and answers.

/** What the process answers: the names of the migrations applied, or why they could not be. */
export type MigrationAnswer = { applied: string[] } | { error: string };

// A migration that has begun is ended, though who asked for it is interrupted: half of one has to be mended by hand.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
const leave = () => process.exit();
process.on("disconnect", leave);
process.once("message", async (databaseUrl: string) => {
  process.off("disconnect", leave);
  const answer: MigrationAnswer = await applyMigrations(databaseUrl).then(
    (applied) => ({ applied }),
    (error) => ({ error: messageOf(error) }),
  );
  // Not left to end by itself: the engine's adapter keeps timers for as long as connections may be idle.
  if (process.connected) process.send?.(answer, () => process.exit());
  else process.exit();
});
