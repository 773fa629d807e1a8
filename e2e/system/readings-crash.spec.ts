import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { lengthOf } from "#e2e/length.ts";
import { databaseUrl, preparedDataDir, startTreadle } from "#e2e/server.ts";
import { firstUser, noLimits } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { Canvas, CanvasData } from "#server/features/canvases/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

const key = `sk-service-${"readings".repeat(5)}`;
const env = { ...firstUser(key), ...noLimits };

/** More than are read from the past in one transaction. */
const PAST = 350;
/** Runs as they would have ended before anybody showed them, one each ten minutes. */
const RUNS_OF_BEFORE = `
  WITH made AS (
    INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, status, trigger, created_at, started_at, completed_at)
    SELECT gen_random_uuid(), w.project_id, w.id, 1, w.snapshot_id, 'completed', 'webhook', at, at, at
    FROM (SELECT date_trunc('milliseconds', now() - make_interval(mins => 10 * n)) AS at FROM generate_series(1, $2::int) AS n) AS times, workflows w
    WHERE w.id = $1::uuid RETURNING id, completed_at
  )
  INSERT INTO execution_values (execution_id, output) SELECT id, '{"n":' || row_number() OVER (ORDER BY completed_at) || '}' FROM made`;

const TRUTH = `
  SELECT count(*)::int AS count, sum((v.output::json->>'n')::int)::int AS sum
  FROM executions e JOIN execution_values v ON v.execution_id = e.id WHERE e.workflow_id = $1 AND e.status = 'completed'`;
const UNENDED = "SELECT FROM executions WHERE workflow_id = $1 AND status NOT IN ('completed', 'failed', 'cancelled', 'rejected')";

async function connected(dataDir: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl(dataDir) });
  client.on("error", () => undefined); // the next start ends the database that a killed process leaves
  await client.connect();
  return client;
}

test("kill -9 while a new widget reads the past, and between the end of runs and the keeping of their values: each value is shown once", async () => {
  test.setTimeout(400_000);
  const dataDir = preparedDataDir();
  let server = await startTreadle({ dataDir, env });
  let api = apiClient({ url: server.url, key });
  const graph = graphOf({ t: ["trigger"], o: ["output", { format: "json", value: "{{trigger.output}}" }] }, ["t>o"]);
  const { id } = (await api.post("/workflows", { name: "Counted", ...graph }, { schema: Workflow, status: 201 })).body;
  let database = await connected(dataDir);
  await database.query(RUNS_OF_BEFORE, [id, PAST]);
  // Whoever keeps the values of more than the newest runs waits here, and all that comes after it.
  await database.query("BEGIN");
  await database.query(
    "SELECT FROM executions WHERE id = (SELECT id FROM executions WHERE workflow_id = $1 ORDER BY created_at DESC OFFSET 200 LIMIT 1) FOR UPDATE",
    [id],
  );

  const over = { over: "runs", range: "30d" };
  const widgets = [
    { type: "number", options: { ...over, path: "$.n", aggregate: "count", bucket: "day" } },
    { type: "number", options: { ...over, path: "$.n", aggregate: "sum", bucket: "hour" } },
    { type: "chart", options: { ...over, kind: "line", y: "$.n" } },
  ].map((widget, y) => ({ ...widget, id: `w${y}`, title: "", workflow_id: id, output_label: null, layout: { x: 0, y, w: 6, h: 1 } }));
  const canvas = (await api.post("/canvases", { name: "Wall", widgets }, { schema: Canvas, status: 201 })).body;
  const shown = async () => (await api.get(`/canvases/${canvas.id}/data`, { schema: CanvasData })).body.widgets;
  const execute = (n: number) => api.post(`/workflows/${id}/execute`, { input: JSON.stringify({ n }) });
  await until(async () => (await shown())[0]?.filling?.done === 200);
  for (let n = 1000; n < 1005; n++) expect((await execute(n)).status).toBe(202);
  await until(async () => (await database.query(UNENDED, [id])).rowCount === 0);
  expect((await database.query("SELECT FROM reading_queue")).rowCount).toBe(5);
  expect((await shown())[0]).toMatchObject({ value: 200, filling: { done: 200, total: PAST } });

  const restart = async () => {
    await server.kill9();
    server = await startTreadle({ dataDir, env });
    api = apiClient({ url: server.url, key });
    database = await connected(dataDir);
  };
  const expectEachOnce = async () => {
    await until(async () => (await database.query(UNENDED, [id])).rowCount === 0, 60_000);
    await until(async () => (await database.query("SELECT FROM reading_queue")).rowCount === 0);
    const [count, sum, chart] = await until(async () => {
      const now = await shown();
      return now.every(({ filling }) => !filling) ? now : undefined;
    });
    const { rows } = await database.query<{ count: number; sum: number }>(TRUTH, [id]);
    expect([count?.value, sum?.value]).toEqual([rows[0]?.count, rows[0]?.sum]);
    const points = chart?.series?.[0]?.points ?? [];
    const days = count?.series?.[0]?.points ?? [];
    expect(days.reduce((total, { y }) => total + (y ?? 0), 0)).toBe(rows[0]?.count);
    expect(new Set(points.map(({ execution_id }) => execution_id)).size).toBe(Math.min(1000, rows[0]?.count ?? 0));
    return count?.value;
  };
  await restart();
  expect(await expectEachOnce()).toBe(PAST + 5);

  // Wherever it is.
  for (let round = 0; round < lengthOf({ short: 0, long: 10 }); round++) {
    const asked = Promise.allSettled(Array.from({ length: 60 }, (_, n) => execute(n)));
    await pause(Math.random() * 500);
    await restart();
    await asked;
    await expectEachOnce();
  }
  await database.end();
  await server.stop();
});
