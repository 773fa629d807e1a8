import { expect, onTestFinished, test } from "vitest";
import { until } from "#e2e/until.ts";
import { fillPast, fillQueued } from "#server/features/canvases/fill.ts";
import { removeUnread } from "#server/features/canvases/readings.ts";
import { rollUpHours } from "#server/features/canvases/roll-up-hours.ts";
import type { WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";
import { createCanvas, deleteCanvas, updateCanvas } from "#server/features/canvases/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { db, pool, withClient } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { registerWorker } from "#server/runs/local-worker.ts";
import { deleteExecutions } from "#server/runs/store/delete-executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { acceptRun } from "#server/runs/use-cases/inline-run.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { shownWorkflow } from "#server/testing/shown-workflow.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const world = (...labels: string[]) => shownWorkflow(database, ...labels);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const readingOf = async (workflow_id: string) => db().reading.findFirstOrThrow({ where: { workflow_id, NOT: { path: "" } } });

async function fillAll(): Promise<void> {
  while ((await fillQueued()) || (await fillPast()));
}

/** Repeats for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Value {
  id: string;
  at: Date;
  value: unknown;
}

const aggregates = ["last", "count", "sum", "avg", "min", "max", "p95"] as const;
const buckets = ["run", "hour", "day", "week", "month"] as const;

/** Start of a bucket, in UTC. */
function startOf(bucket: (typeof buckets)[number], at: Date): string {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const times = {
    run: at.getTime(),
    hour: at.getTime() - (at.getTime() % HOUR),
    day: Date.UTC(year, month, day),
    week: Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7)),
    month: Date.UTC(year, month, 1),
  };
  return new Date(times[bucket]).toISOString();
}

/** The plain way: all numbers at hand. */
function plain(aggregate: (typeof aggregates)[number], values: { id: string; at: Date; value: number }[]) {
  const byTime = [...values].sort((a, b) => a.at.getTime() - b.at.getTime());
  const bySize = [...values].sort((a, b) => a.value - b.value || a.at.getTime() - b.at.getTime());
  const newest = byTime.at(-1) as Value;
  const sum = values.reduce((total, { value }) => total + value, 0);
  const rank = bySize[Math.ceil(0.95 * values.length) - 1];
  const chosen = { last: byTime.at(-1), min: bySize[0], max: bySize.at(-1), p95: rank };
  if (aggregate === "count") return { value: values.length, at: newest.at };
  if (aggregate === "sum") return { value: sum, at: newest.at };
  if (aggregate === "avg") return { value: sum / values.length, at: newest.at };
  return { value: chosen[aggregate]?.value as number, at: undefined };
}

const isNumber = (one: Value): one is Value & { value: number } => typeof one.value === "number";

async function compare(show: Awaited<ReturnType<typeof world>>["show"], all: readonly Value[], range: WidgetRange): Promise<void> {
  const days = { "24h": 1, "7d": 7, "30d": 30, "90d": 90, all: 1e6 }[range];
  for (const bucket of buckets)
    for (const aggregate of aggregates) {
      const options = { path: "$.n", over: "runs", range, bucket, aggregate };
      const data = await show({ type: "number", options });
      const now = Date.now();
      const within = all.filter(({ at }) => now - at.getTime() <= days * DAY);
      const before = all.filter(({ at }) => now - at.getTime() > days * DAY && now - at.getTime() <= 2 * days * DAY).filter(isNumber);
      const numbers = within.filter(isNumber);
      const what = `${range} ${bucket} ${aggregate}`;
      if (numbers.length === 0) {
        expect([what, data.value, data.series]).toEqual([what, undefined, undefined]);
        continue;
      }
      expect([what, data.value]).toEqual([what, expect.closeTo(plain(aggregate, numbers).value, 6)]);
      expect([what, data.previous]).toEqual([what, before.length ? expect.closeTo(plain(aggregate, before).value, 6) : undefined]);
      const others = within.length - numbers.length;
      expect([what, data.problem?.startsWith(`${others} value`) ?? false]).toEqual([what, others > 0]);
      const groups = Map.groupBy(numbers, ({ at, id }) => (bucket === "run" ? `${startOf(bucket, at)} ${id}` : startOf(bucket, at)));
      const wanted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
      const points = data.series?.[0]?.points ?? [];
      expect([what, points.map(({ x }) => x)]).toEqual([what, wanted.map(([x]) => x.split(" ")[0])]);
      for (const [index, [, values]] of wanted.entries()) {
        const [point, { value, at }] = [points[index], plain(aggregate, values)];
        expect([what, point?.y]).toEqual([what, expect.closeTo(value, 6)]);
        const from = values.find(({ id }) => id === point?.execution_id);
        expect([what, from?.at.toISOString()]).toEqual([what, point?.completed_at]);
        if (at) expect([what, point?.completed_at]).toEqual([what, at.toISOString()]);
        else expect([what, from?.value]).toEqual([what, value]);
      }
    }
}

test("aggregates by every bucket are what a plain recomputation gives, before and after hours are added up, and after deletions", async () => {
  const random = randomFrom(19);
  const { admin, workflow, run, show, widget } = await world("R");
  const all: Value[] = [];
  // Dense in the last days, thin before; round times such as ends of months and the hours at which clocks change elsewhere.
  const some = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const ago = random() < 0.5 ? random() * 3 * DAY : random() * 100 * DAY;
      const time = Date.now() - 60_000 - ago;
      const at = new Date(random() < 0.2 ? time - (time % HOUR) : time);
      const value =
        random() < 0.15 ? ["12", null, true, [1, 2]][Math.floor(random() * 4)] : Math.round(random() * 1000) / (random() < 0.3 ? 100 : 10);
      all.push({ id: await run({ R: { n: value } }, { at }), at, value });
    }
  };
  await some(150);
  const canvas = await createCanvas(admin, { name: "All", widgets: [widget({ type: "number", options: { path: "$.n", over: "runs" } })] });
  expect(canvas.widgets).toHaveLength(1);
  expect((await show({ type: "number", options: { path: "$.n", over: "runs" } })).filling).toEqual({ done: 0, total: 0 });
  await fillAll();
  expect((await readingOf(workflow.id)).done).toBe(150);
  expect(await db().readingHour.count({ where: { is_fresh: true } })).toBeGreaterThan(20);
  for (const range of ["24h", "30d", "all"] as const) await compare(show, all, range);

  // What comes later goes through the queue, into hours that are added up already.
  const known = all.length;
  await some(40);
  await db().readingQueue.createMany({ data: all.slice(known).map(({ id }) => ({ execution_id: id, workflow_id: workflow.id })) });
  await fillAll();
  for (const range of ["7d", "90d"] as const) await compare(show, all, range);
  await deleteExecutions(admin.project.id, new Date(Date.now() - 20 * DAY), () => true);
  const left = all.filter(({ at }) => Date.now() - at.getTime() < 20 * DAY);
  await compare(show, left, "all");
  await rollUpHours();
  await compare(show, left, "30d");
}, 120_000);

test("a run's end keeps its values in the same transaction that ends it; a draft's end does not", async () => {
  const { admin, workflow, widget, show } = await world("R");
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow.id } });
  const common = {
    project_id: admin.project.id,
    workflow_id: workflow.id,
    snapshot_id,
    started_by_id: admin.user.id,
    trigger: "manual",
    params: null,
  } as const;
  const start = async (input: string, workflow_version: number | null = 1) => {
    const { execution_id } = await startExecution({ ...common, workflow_version, input });
    await claimAndExecute(engineServices, execution_id, 5);
    return execution_id;
  };
  await start('{"n": 1}');
  expect(await db().readingQueue.count()).toBe(0);
  const options = { path: "$.n", over: "runs", aggregate: "sum" };
  await createCanvas(admin, { name: "One", widgets: [widget({ type: "number", options })] });
  await fillAll();
  await start('{"n": 20}');
  await start('{"n": 300}', null);
  expect(await db().readingQueue.count()).toBe(1);
  // A process that dies here has lost nothing: it is in the queue for the next.
  expect(await show({ type: "number", options })).toMatchObject({ status: "ok", value: 1 });
  expect(await fillQueued()).toBe(false);
  expect(await show({ type: "number", options })).toMatchObject({ status: "ok", value: 21 });
  expect(await db().readingQueue.count()).toBe(0);
  // One that is written whole when it is accepted, as most short ones are.
  const reserve = () => (work: () => Promise<void>) => void work();
  onTestFinished(registerWorker(pool(), { services: engineServices, held: new Set(), reserve, poke: () => true, hasFreeSlot: () => true }));
  const whole = { ...common, workflow_version: 1, graph: await snapshotGraph(snapshot_id), input: '{"n": 4000}' };
  expect(await acceptRun(whole)).toMatchObject({ kind: "started", isBegun: true });
  expect(await db().readingQueue.count()).toBe(1);
  await fillQueued();
  expect(await show({ type: "number", options })).toMatchObject({ status: "ok", value: 4021 });
  const data = await show({ type: "number", options });
  expect(data.versions).toMatchObject([{ version: 1 }]);
});

test("values that a process was about to keep when it died are kept by the next", async () => {
  const { admin, workflow, run, widget, show } = await world("R");
  const options = { path: "$.n", over: "runs", aggregate: "sum" };
  await createCanvas(admin, { name: "One", widgets: [widget({ type: "number", options })] });
  await fillAll();
  const id = await run({ R: { n: 7 } }, { at: new Date(Date.now() - 1000) });
  await db().readingQueue.create({ data: { execution_id: id, workflow_id: workflow.id } });
  const dead = await withClient(async (client) => {
    await client.query("BEGIN");
    await client.query("SELECT FROM executions WHERE id = $1 FOR UPDATE", [id]);
    const filling = asOtherCaller(fillQueued).catch((error: unknown) => error);
    const stuck = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await asOtherCaller(() => until(async () => ((await pool().query(stuck)).rowCount ?? 0) > 0));
    await asOtherCaller(() => pool().query(`SELECT pg_terminate_backend(pid) FROM (${stuck}) AS stuck`));
    await client.query("ROLLBACK");
    return filling;
  });
  expect(dead).toBeInstanceOf(Error);
  expect(await show({ type: "number", options })).toMatchObject({ status: "empty" });
  await fillQueued();
  expect(await show({ type: "number", options })).toMatchObject({ status: "ok", value: 7 });
});

test("tables over runs have a row for each, or for each bucket; texts show the newest", async () => {
  const { admin, run, widget, show } = await world("R");
  const at = (hours: number) => new Date(Math.floor(Date.now() / HOUR) * HOUR - hours * HOUR);
  const first = await run({ R: { who: "Ann", n: 2, more: { a: 1 } } }, { at: at(30) });
  const second = await run({ R: { who: "Bob", n: 4.5, more: { a: 2 } } }, { at: at(29) });
  await run({ R: { other: true } }, { at: at(28) });
  const columns = [
    { label: "Who", path: "$.who" },
    { label: "N", path: "$.n" },
    { label: "More", path: "$.more" },
  ];
  const table = (more: object = {}) => ({ type: "table", options: { over: "runs", columns, ...more } });
  const check = async () => {
    const rows = (await show(table())).rows;
    expect(rows?.map(({ cells, execution_id }) => [cells, execution_id])).toEqual([
      [["Bob", 4.5, '{"a":2}'], second],
      [["Ann", 2, '{"a":1}'], first],
    ]);
  };
  await check(); // as it is tried before it is saved
  const saved = await createCanvas(admin, {
    name: "T",
    widgets: [widget(table()), widget({ ...table({ columns: undefined, path: "$" }), id: "w2" })],
  });
  await fillAll();
  await check();
  // What is kept counts as what the project holds.
  expect((await db().execution.findUniqueOrThrow({ where: { id: first } })).bytes).toBeGreaterThan(40n);
  const whole = await show(table({ columns: undefined, path: "$" }));
  expect(whole.columns).toEqual(["other"]);
  const summed = await show(table({ bucket: "month", aggregate: "sum" }));
  expect(summed.rows?.at(-1)?.cells.slice(1)).toEqual([expect.any(Number), null]);
  expect(summed.problem).toContain("are no numbers");
  expect((await show({ type: "text", options: { over: "runs", path: "$.other" } })).text).toBe("true");
  expect((await show({ type: "text", options: { over: "runs", range: "24h" } })).status).toBe("empty");

  // What no widget reads any more is forgotten; what comes again is read again.
  expect(await db().readingValue.count()).toBeGreaterThan(0);
  await updateCanvas(admin, { canvas_id: saved.id, widgets: [widget(table())] });
  await removeUnread();
  expect(await db().reading.count({ where: { project_id: admin.project.id, NOT: { path: "" } } })).toBe(3);
  await deleteCanvas(admin, { canvas_id: saved.id });
  await removeUnread();
  expect(await db().reading.count({ where: { project_id: admin.project.id } })).toBe(0);
});

test("a count of what is no number counts what there is", async () => {
  const { run, show } = await world("R");
  for (const word of ["a", "b", "c"]) await run({ R: word }, { at: new Date(Date.now() - 1000) });
  const shown: WidgetData = await show({ type: "number", options: { over: "runs", aggregate: "count" } });
  expect(shown).toMatchObject({ status: "ok", value: 3 });
  expect(shown.problem).toBeUndefined();
  expect(await show({ type: "number", options: { over: "runs", aggregate: "sum" } })).toMatchObject({
    status: "problem",
    problem: "3 values are no numbers and left out.",
  });
});
