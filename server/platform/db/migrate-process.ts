import { applyMigrations } from "#server/platform/db/schema-engine.ts";
import { messageOf } from "#server/platform/errors.ts";

// A program of its own, started by migrate.ts: gets the address of a database and the pending migrations over IPC and applies them.

export interface MigrationOrder {
  databaseUrl: string;
  /** Names, oldest first. */
  pending: string[];
}

/** Sent for each migration applied, and once at the end: without an error, all are applied. */
export type MigrationMessage = { applied: string; ms: number } | { isDone: true } | { error: string };

// A migration that has begun is ended, though who asked for it is interrupted: half of one has to be mended by hand.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
const leave = () => process.exit();
process.on("disconnect", leave);
process.once("message", async ({ databaseUrl, pending }: MigrationOrder) => {
  process.off("disconnect", leave);
  const send = (message: MigrationMessage, then = () => {}) => {
    if (process.connected) process.send?.(message, then);
    else then();
  };

  const outcome: MigrationMessage = await applyMigrations(databaseUrl, pending, (applied, ms) => send({ applied, ms })).then(
    () => ({ isDone: true }),
    (error) => ({ error: messageOf(error) }),
  );
  // Not left to end by itself: the engine's adapter keeps timers for as long as connections may be idle.
  send(outcome, () => process.exit());
});
