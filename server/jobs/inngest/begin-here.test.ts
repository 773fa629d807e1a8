import type pg from "pg";
import { afterEach, expect, test } from "vitest";
import { beginRunsHere } from "#server/jobs/inngest/begin-here.ts";
import { runPlaces } from "#server/jobs/inngest/run-places.ts";
import { setSettings } from "#server/platform/settings.ts";
import { engineHere } from "#server/runs/use-cases/engine-here.ts";

// cast: it only stands for a database here
const pool = {} as pg.Pool;
const never = () => new Promise<void>(() => undefined);
let stop: ((graceMs: number) => Promise<void>) | undefined;

function begin(isAlone: boolean) {
  setSettings({ PROJECT_CONCURRENCY: "2" });
  stop = beginRunsHere(pool, () => isAlone);
  const enter = (project: string, hasEffects: boolean) => engineHere(pool)?.enter(project, hasEffects);
  return { enter };
}
afterEach(() => stop?.(0));

test("runs that call models begin here only while nobody else carries runs; pure ones always do", () => {
  const { enter } = begin(false);
  expect(enter("p", true)).toBeUndefined();
  expect(enter("p", false)).toBeDefined();
});

test("runs that call models share the project's places with those that the executor carries", async () => {
  const { enter } = begin(true);
  const leave = await runPlaces().enter("q");
  enter("q", true)?.(never);
  expect(enter("q", true)).toBeUndefined();
  expect(enter("other", true)).toBeDefined();
  leave();
  expect(enter("q", true)).toBeDefined();
});

test("a run that has ended gives its place back, also one that was left behind", async () => {
  const { enter } = begin(true);
  enter("r", true)?.(() => Promise.reject(new Error("the process stops")));
  enter("r", true)?.(async () => undefined);
  expect(enter("r", true)).toBeUndefined();
  await new Promise((resolve) => setImmediate(resolve));
  expect(enter("r", true)).toBeDefined();
});
