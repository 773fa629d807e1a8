import { expect, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import type { CanvasData } from "#server/features/canvases/schema.ts";
import { openWorld } from "#server/testing/api/open-world.ts";
import { withOutputs } from "#server/testing/shown-workflow.ts";

// Canvases as programs use them: over REST, with a worker that runs workflows and keeps values.

vi.setConfig({ testTimeout: 60_000 });
const open = openWorld();

test("what runs came to before a canvas was made, and after, comes together in its data and its CSV", async () => {
  const { admin, viewer, stranger } = open.world;
  const { id: workflow_id } = await admin.call("POST", "/workflows", { name: open.world.name(), ...withOutputs("Report") });
  const ids: string[] = [];
  const run = async (value: unknown) => {
    const { execution_id } = await admin.call("POST", `/workflows/${workflow_id}/execute`, { input: JSON.stringify(value) });
    await until(async () => (await admin.call("GET", `/executions/${execution_id}`)).status === "completed");
    ids.push(execution_id);
  };
  await run({ total: 10, who: "Ann" });
  await run({ total: "11", who: "=1+1" });
  const place = (id: string) => ({ id, title: id, workflow_id, output_label: "Report", layout: { x: 0, y: 0, w: 1, h: 1 } });
  const columns = [
    { label: "Who", path: "$.who" },
    { label: "Total", path: "$.total" },
  ];
  const widgets = [
    { ...place("sum"), type: "number", options: { path: "$.total", over: "runs", aggregate: "sum", bucket: "day", unit: "€" } },
    { ...place("line"), type: "chart", options: { kind: "line", y: "$.total", over: "runs" } },
    { ...place("rows"), type: "table", options: { over: "runs", columns } },
    { ...place("now"), type: "number", options: { path: "$.total" } },
  ];
  const { id } = await admin.call("POST", "/canvases", { name: open.world.name(), widgets });
  const data = async (query = ""): Promise<CanvasData> => viewer.call("GET", `/canvases/${id}/data${query}`) as never; // cast: parsed by who-may-do-what
  const widget = async (name: string) => (await data()).widgets.find(({ widget_id }) => widget_id === name);
  await until(async () => (await data()).widgets.every(({ filling }) => !filling));
  expect(await widget("sum")).toMatchObject({
    status: "ok",
    value: 10,
    unit: "€",
    problem: "1 value is no number and left out.",
    execution_id: ids[0],
  });
  await run({ total: 2.5, who: 'Bob, "B"' });
  await until(async () => (await widget("sum"))?.value === 12.5);
  expect((await widget("line"))?.series?.[0]).toMatchObject({
    name: "total",
    points: [
      { y: 10, execution_id: ids[0] },
      { y: 2.5, execution_id: ids[2] },
    ],
  });
  expect((await widget("rows"))?.rows?.map(({ cells }) => cells)).toEqual([
    ['Bob, "B"', 2.5],
    ["=1+1", "11"],
    ["Ann", 10],
  ]);
  expect(await widget("now")).toMatchObject({ value: 2.5, execution_id: ids[2] });
  expect((await data("?range=24h")).range).toBe("24h");

  const csv = async (caller: typeof viewer, name: string) => {
    const headers = { authorization: `Bearer ${caller.key}` };
    const answer = await open.door.fetch(`${open.door.url}/api/v1/canvases/${id}/data.csv?widget_id=${name}`, { headers });
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };
  const { text, ...head } = await csv(viewer, "rows");
  expect(head).toEqual({ status: 200, type: "text/csv; charset=utf-8" });
  const lines = text.split("\r\n").map((line) => line.split(`,${ids[2]}`)[0]);
  expect(lines.slice(0, 2)).toEqual(["Who,Total,execution_id,completed_at", '"Bob, ""B""",2.5']);
  expect(text).toContain("\r\n'=1+1,11,");
  expect((await csv(viewer, "row")).status).toBe(422);
  expect((await csv(viewer, "")).status).toBe(422);
  expect((await csv(stranger, "rows")).status).toBe(404);
});

test("whoever stops reading a canvas's stream has left it at once, whatever it waits for", { timeout: 10_000 }, async () => {
  const { admin, ids } = open.world;
  const headers = { authorization: `Bearer ${admin.key}` };
  const { body } = await open.door.fetch(`${open.door.url}/api/v1/canvases/${ids.canvas}/stream`, { headers });
  const reader = body?.getReader();
  await reader?.read(); // the greeting; nothing comes after it for 15 seconds
  await reader?.cancel();
});
