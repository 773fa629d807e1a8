import { setTimeout as pause } from "node:timers/promises";
import { graphOf } from "#e2e/api/graphs.ts";
import { readEvents } from "#e2e/api/read-stream.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { at } from "#e2e/bench/measure.ts";
import { withOwnService } from "#e2e/bench/own-service.ts";
import { timeRequests } from "#e2e/bench/requests.ts";
import { until } from "#e2e/until.ts";
import { Canvas, CanvasData, CanvasDataEvent } from "#server/features/canvases/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";

const COUNT = 1_000_000;
/** Less than the range that is read, which goes on while they are written. */
const DAYS = 89;
const REQUESTS = 40;
const PUSHES = 20;
/** What the data of a canvas, and the way from a run's end to whoever looks, must stay under, in milliseconds. */
const MOST_MS = 300;
const LATE_MS = 2000;

// Runs as they would have ended, and beside them what was kept of them then. A step at a time, so that no statement is too large.
const RUNS = `
  WITH made AS (
    INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, status, trigger, created_at, started_at, completed_at)
    SELECT gen_random_uuid(), w.project_id, w.id, 1, w.snapshot_id, 'completed', 'webhook', at, at, at
    FROM (SELECT date_trunc('milliseconds', now() - make_interval(secs => 60 + 86400.0 * $2::int * (1 - n / $3::float8))) AS at
      FROM generate_series($4::int, $5::int) AS n) AS times, workflows w WHERE w.id = $1::uuid
    RETURNING id, completed_at, round((random() * 1000)::numeric, 2)::float8 AS total
  ), results AS (
    INSERT INTO execution_values (execution_id, output) SELECT id, json_build_object('total', total, 'seconds', total / 7)::text FROM made
  ), kept AS (
    INSERT INTO reading_values (execution_id, reading_id, completed_at, number)
    SELECT m.id, r.id, m.completed_at, CASE r.path WHEN '$.total' THEN m.total ELSE m.total / 7 END
    FROM made m JOIN readings r ON r.workflow_id = $1::uuid AND r.path <> ''
    RETURNING reading_id, completed_at
  )
  INSERT INTO reading_hours (reading_id, hour) SELECT DISTINCT reading_id, date_trunc('hour', completed_at, 'UTC') FROM kept ON CONFLICT DO NOTHING`;

/** Twelve widgets: numbers, charts and tables over all of the runs, and what shows the latest. */
function widgetsOver(workflow_id: string) {
  const [total, seconds] = [{ path: "$.total" }, { path: "$.seconds" }];
  const chart = (kind: string, y: string, bucket: string, aggregate: string) =>
    ["chart", { kind, y, bucket, aggregate, over: "runs" }] as const;
  const number = (options: object) => ["number", { ...options, over: "runs", bucket: "day" }] as const;
  const columns = [
    { label: "Total", path: "$.total" },
    { label: "Seconds", path: "$.seconds" },
  ];
  const all = [
    number({ ...total, aggregate: "sum" }),
    number({ ...total, aggregate: "count" }),
    number({ ...seconds, aggregate: "avg" }),
    ["number", { ...total, over: "runs", aggregate: "p95" }] as const,
    chart("bar", "$.total", "day", "sum"),
    chart("line", "$.seconds", "hour", "avg"),
    chart("area", "$.total", "week", "p95"),
    chart("line", "$.total", "run", "last"),
    ["table", { columns, over: "runs" }] as const,
    ["table", { columns, over: "runs", bucket: "day", aggregate: "avg" }] as const,
    ["number", total] as const,
    ["text", undefined] as const,
  ];
  return all.map(([type, options], index) => ({
    ...{ id: `w${index}`, title: type, type, workflow_id, output_label: null, layout: { x: 0, y: index, w: 6, h: 1 } },
    ...(options && { options: { range: "90d", ...options } }),
  }));
}

/** How long it takes from the end of a run until a viewer's stream has counted it, in milliseconds, sorted. */
async function timePushes(api: ApiClient, url: string, canvas_id: string, workflow_id: string): Promise<number[]> {
  const line = await fetch(`${url}/api/v1/canvases/${canvas_id}/stream`, { headers: { authorization: `Bearer ${api.key}` } });
  const counted = new Map<number, number>();
  const reading = readEvents(line, ({ event, data }) => {
    if (event !== "canvas_data") return false;
    const value = CanvasDataEvent.parse(data).widgets.find(({ widget_id }) => widget_id === "w1")?.value;
    if (value !== undefined) counted.set(value, Date.now());
    return counted.has(COUNT + PUSHES);
  });
  const took: number[] = [];
  for (let n = 1; n <= PUSHES; n++) {
    await pause(Math.random() * 1000); // whatever the stream does at the moment
    const asked = { input: JSON.stringify({ total: n, seconds: n }) };
    const run = (await api.post(`/workflows/${workflow_id}/execute`, asked, { schema: ExecuteResult, status: 202 })).body;
    const arrived = await until(() => counted.get(COUNT + n));
    const { completed_at } = (await api.get(`/executions/${run.execution_id}`, { schema: Execution })).body;
    took.push(arrived - Date.parse(completed_at ?? ""));
  }
  await reading;
  return took.sort((a, b) => a - b);
}

/** What the data of a canvas of twelve widgets cost, over REST, with a million executions in their range. */
export async function measureCanvases({ env, key }: { env: Record<string, string>; key: string }) {
  return withOwnService({ env, key }, async ({ url, api, client }) => {
    const graph = graphOf({ t: ["trigger"], o: ["output"] }, ["t>o"]);
    const { id } = (await api.post("/workflows", { name: "Shown", ...graph }, { schema: Workflow, status: 201 })).body;
    const widgets = widgetsOver(id);
    const canvas = (await api.post("/canvases", { name: "Wall", widgets }, { schema: Canvas, status: 201 })).body;
    const isFilled = async () => (await client.query("SELECT FROM readings WHERE filled_at IS NULL")).rowCount === 0;
    await until(isFilled, 60_000);
    for (let from = 1; from <= COUNT; from += 50_000) await client.query(RUNS, [id, DAYS, COUNT, from, from + 49_999]);
    await client.query("VACUUM (ANALYZE) executions, execution_values, reading_values, reading_hours");
    // The end of a filling: nothing is left to be read, and the hours are added up.
    const began = performance.now();
    await client.query("UPDATE readings SET filled_at = NULL, before_at = '1970-01-01', before_id = gen_random_uuid() WHERE path <> ''");
    await api.put(`/canvases/${canvas.id}`, { widgets }, { status: 200 });
    const marked = "SELECT FROM reading_hours WHERE NOT is_fresh AND hour < now() - interval '65 minutes'";
    await until(async () => (await isFilled()) && (await client.query(marked)).rowCount === 0, 240_000);
    const folded_ms = performance.now() - began;
    const { body } = await api.get(`/canvases/${canvas.id}/data`, { schema: CanvasData });
    const [, count] = body.widgets;
    if (count?.value !== COUNT || body.widgets.some(({ status }) => status !== "ok")) throw new Error(JSON.stringify(body).slice(0, 2000));
    const send = () => fetch(`${url}/api/v1/canvases/${canvas.id}/data`, { headers: { authorization: `Bearer ${key}` } });
    await timeRequests(send, { count: 5, concurrency: 1, status: 200 });
    const figures = await timeRequests(send, { count: REQUESTS, concurrency: 1, status: 200 });
    process.stdout.write(
      `canvas of ${widgets.length} widgets over ${COUNT} executions: p50 ${figures.p50_ms.toFixed(0)} ms, p99 ${figures.p99_ms.toFixed(0)} ms over REST (wanted: p50 under ${MOST_MS}); adding up their hours took ${(folded_ms / 1000).toFixed(1)} s\n`,
    );
    const pushes = await timePushes(api, url, canvas.id, id);
    const [pushed_p50_ms, pushed_most_ms] = [at(pushes, 0.5), at(pushes, 1)];
    process.stdout.write(
      `from a run's end to its viewers: p50 ${pushed_p50_ms.toFixed(0)} ms, at most ${pushed_most_ms.toFixed(0)} ms of ${PUSHES} (wanted: under ${LATE_MS})\n`,
    );
    return { folded_ms, ...figures, pushed_p50_ms, pushed_most_ms };
  });
}
