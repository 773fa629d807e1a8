import { beforeAll, expect, test } from "vitest";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { endSome, Killed, mortal, mortalServices } from "#server/testing/mortal-run.ts";
import { type Draw, drawFrom, playGraphs } from "#server/testing/random-graph.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { times } from "#server/testing/times.ts";
import type { Graph } from "#server/workflow/schema.ts";

// The same random graphs as in random-runs.test.ts, on the real store.

const GRAPHS = times(10);
const MOST_DEATHS = 4;
const MOST_SEGMENTS = 400;

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  setSettings({ EXECUTIONS_PER_HOUR: "0" });
  admin = await database.newAdmin();
  collectEvents();
});

/** Plays a run to its end. */
async function play(execution_id: string, draw: Draw): Promise<void> {
  let deaths = 0;
  const mayDie = () => {
    const isTime = deaths < MOST_DEATHS && draw(5) === 0;
    deaths += Number(isTime);
    return isTime;
  };
  for (let segment = 0; segment < MOST_SEGMENTS; segment++) {
    const { store, life } = mortal(mayDie);
    const seconds = draw(3) ? 60 : 0.02;
    const kind = await claimAndExecute(mortalServices(draw, store), execution_id, seconds).then(
      (outcome) => outcome.kind,
      (error: unknown) => {
        if (error instanceof Killed) return "killed" as const;
        throw error;
      },
    );
    if (life.isDead) await pool().query("UPDATE executions SET lease_until = NULL WHERE id = $1", [execution_id]);
    if (kind === "over") return;
    if (kind === "waiting") await endSome(admin, execution_id, draw, () => draw(4) === 0);
  }
  throw new Error("It never ends.");
}

/** What holds of every run that has ended. */
async function check(execution_id: string): Promise<void> {
  const events = await db().executionEvent.findMany({ where: { execution_id }, orderBy: { seq: "asc" } });
  const types = events.map(({ type }) => type);
  expect(types.filter((type) => type === "execution_complete" || type === "execution_failed")).toHaveLength(1);
  expect(types.at(-1)).toMatch(/^execution_/);
  const execution = await db().execution.findUniqueOrThrow({ where: { id: execution_id }, select: { error: true, lease_until: true } });
  expect(execution.lease_until).toBe(null);
  expect(execution.error ?? "").not.toContain("could not be stored");
  expect(await db().nodeRun.count({ where: { execution_id, status: { in: ["running", "waiting"] } } })).toBe(0);
  expect(await db().wait.count({ where: { execution_id, status: "waiting" } })).toBe(0);
}

async function playGraph(graph: Graph, seed: number): Promise<void> {
  const execution_id = await startStoredRun(admin, graph, "in");
  await play(execution_id, drawFrom(seed));
  await check(execution_id);
}

test(
  "any graph ends once in the database, with nothing left open",
  async () => {
    expect(await playGraphs(300_001, GRAPHS, true, playGraph)).toBeGreaterThan(GRAPHS / 2);
  },
  times(30_000),
);
