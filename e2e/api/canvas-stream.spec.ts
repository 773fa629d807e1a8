import { readEvents, readStream, type WireEvent } from "#e2e/api/read-stream.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { echo, total } from "#e2e/shown-echo.ts";
import { Canvas, CanvasEvent } from "#server/features/canvases/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const toldBy = ({ data }: WireEvent) => {
  const event = CanvasEvent.parse(data);
  return event.type === "canvas_data" ? event.widgets.map(({ widget_id, value }) => [widget_id, value]) : event.type;
};

test("whoever follows a canvas hears of a run that ends, and of what was missed when coming back", async ({
  api,
  baseURL,
  workflow,
  execute,
  finished,
}) => {
  const flow = await workflow(echo);
  const canvas = (await api.post("/canvases", { name: "Wall", widgets: [total(flow.id)] }, { schema: Canvas, status: 201 })).body;
  const run = async (n: number) => finished(await execute(flow, { input: JSON.stringify({ n }) }));
  await run(1);
  const url = `${baseURL}/api/v1/canvases/${canvas.id}/stream`;
  const opened = await fetch(`${url}?token=${api.key}`);
  await run(2);
  const live = await readEvents(opened, ({ event }) => event === "canvas_data");
  expect(live.map(toldBy).at(-1)).toEqual([["total", 2]]);
  const last = live.at(-1)?.id ?? "";
  await run(3);
  const headers = { authorization: `Bearer ${api.key}`, "last-event-id": last };
  expect((await readStream(url, headers, () => true)).map(toldBy)).toEqual([[["total", 3]]]);
  await api.put(`/canvases/${canvas.id}`, { name: "Other" }, { status: 200 });
  expect((await readStream(url, headers, () => true)).map(toldBy)).toEqual(["canvas_changed"]);
});

test("a canvas's stream needs a key, and shows nothing of another project", async ({ api, baseURL, newProject }) => {
  const { id } = (await api.post("/canvases", { name: "Wall" }, { schema: Canvas, status: 201 })).body;
  const { api: other } = await newProject();
  expect((await fetch(`${baseURL}/api/v1/canvases/${id}/stream`)).status).toBe(401);
  const refused = await other.get(`/canvases/${id}/stream`, { schema: ErrorBody, status: 404 });
  expect(refused.body).toEqual((await other.get("/canvases/never/stream", { schema: ErrorBody, status: 404 })).body);
  expect((await api.get(`/canvases/${id}/stream?range=ever`, { schema: ErrorBody, status: 422 })).body.detail).toContain("range");
});
