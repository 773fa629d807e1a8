import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { readEvents } from "#e2e/api/read-stream.ts";
import { until as untilTrue } from "#e2e/until.ts";
import { startFilling } from "#server/features/canvases/fill.ts";
import { followCanvas } from "#server/features/canvases/live.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { createCanvas, deleteCanvas, updateCanvas } from "#server/features/canvases/service.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { answerApi } from "#server/http/api.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { bridgeOf, ORIGIN } from "#server/testing/bridge.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

/** How often data of a canvas were read, and what is listened for at the moment. */
const counted = vi.hoisted(() => ({ reads: new Map<string, number>(), listeners: new Map<string, number>() }));
/** What happens right before something is listened for. */
const before = vi.hoisted(() => ({ listening: async (_payload: string) => {} }));
vi.mock("#server/features/canvases/data.ts", async (original) => {
  const actual = await original<typeof import("#server/features/canvases/data.ts")>();
  const readCanvasData: typeof actual.readCanvasData = (...asked) => {
    const [{ id }] = asked;
    counted.reads.set(id, (counted.reads.get(id) ?? 0) + 1);
    return actual.readCanvasData(...asked);
  };
  return { ...actual, readCanvasData };
});
vi.mock("#server/platform/db/notify.ts", async (original) => {
  const actual = await original<typeof import("#server/platform/db/notify.ts")>();
  const add = (payload: string, more: number) => counted.listeners.set(payload, (counted.listeners.get(payload) ?? 0) + more);
  const subscribe: typeof actual.subscribe = async (channel, payload, handler) => {
    await before.listening(payload);
    const stop = await actual.subscribe(channel, payload, handler);
    add(payload, 1);
    return () => {
      add(payload, -1);
      stop();
    };
  };
  return { ...actual, subscribe };
});

const database = testDatabase();
beforeEach(() => {
  counted.reads.clear();
  counted.listeners.clear();
});
/** Of what is still kept up from the test before nothing counts. */
const listenersFor = (...ids: string[]) => ids.reduce((sum, id) => sum + (counted.listeners.get(id) ?? 0), 0);

const HEARTBEAT_MS = 15_000;

/** Two workflows, and a canvas with a number of each. */
async function world() {
  const admin = await database.newAdmin();
  const graph = graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode", { label: "Total" }] }, edges: ["t>o"] });
  const ids = [await createWorkflow(admin, { name: "A", ...graph }), await createWorkflow(admin, { name: "B", ...graph })].map(
    ({ id }) => id,
  );
  const widgets = ids.map(
    (workflow_id, index): Widget => ({
      ...{ id: index === 0 ? "a" : "b", type: "number", title: "", workflow_id, output_label: "Total" },
      layout: { x: 0, y: index, w: 1, h: 1 },
    }),
  );
  const canvas = await createCanvas(admin, { name: "Wall", widgets });
  const [a = "", b = ""] = ids;
  return { admin, canvas, a, b, canvas_id: canvas.id, listeners: () => listenersFor(canvas.id, ...ids) };
}

/** A run ends, and that is told as it is behind the commit. */
async function ends(admin: ProjectPrincipal, workflow_id: string, total: number): Promise<void> {
  await endedRun(admin, workflow_id, { Total: total });
  await pool().query("SELECT pg_notify('treadle_canvas', $1)", [workflow_id]);
}

async function viewer(canvas_id: string, last?: string) {
  const gone = new AbortController();
  const events = await followCanvas({ canvas_id }, last, gone.signal, HEARTBEAT_MS);
  const leave = async () => {
    gone.abort();
    await events.return(undefined);
  };
  onTestFinished(leave);
  return { next: async () => (await events.next()).value, leave };
}
const numbers = (event: unknown) =>
  (event as { data: { widgets: { widget_id: string; value?: number }[] } }).data.widgets.map(({ widget_id, value }) => [widget_id, value]);
const idOf = (event: unknown) => (event as { seq: string }).seq;

test("a first connection is sent nothing old, then the widgets that change, and only those", async () => {
  const { admin, canvas_id, a } = await world();
  await ends(admin, a, 1);
  const { next } = await viewer(canvas_id);
  const first = next();
  await ends(admin, a, 2);
  const event = await first;
  expect(event).toMatchObject({ type: "canvas_data", data: { canvas_id, widgets: [{ widget_id: "a", status: "ok", value: 2 }] } });
  expect(numbers(event)).toEqual([["a", 2]]);
});

test("the end of a run, whichever process carried it, is told to whoever looks", async () => {
  collectEvents();
  onTestFinished(await startFilling());
  const { admin, canvas, canvas_id, a } = await world();
  const widgets = canvas.widgets.map(
    (widget): Widget => ({ ...widget, type: "number", options: { path: "$.n", over: "runs", aggregate: "sum" } }),
  );
  await updateCanvas(admin, { canvas_id, widgets });
  await untilTrue(async () => (await db().reading.count({ where: { filled_at: null } })) === 0);
  const { next } = await viewer(canvas_id);
  for (const [input, sum] of [
    ['{"n": 1}', 1],
    ['{"n": 20}', 21],
  ] as const) {
    const event = next();
    const { execution_id } = await executeWorkflow(admin, { workflow_id: a, input });
    await claimAndExecute(engineServices, execution_id, 5);
    expect(numbers(await event)).toEqual([["a", sum]]);
  }
});

test("whoever comes back is sent what has changed since the event, wherever that was sent", async () => {
  const { admin, canvas_id, a, b } = await world();
  const first = await viewer(canvas_id);
  const event = first.next();
  await ends(admin, a, 1);
  const last = idOf(await event);
  await first.leave();
  // Nobody has told this process of it yet when the viewer is here again.
  await endedRun(admin, b, { Total: 5 });
  // As another process has it: of what this one knew nothing is there.
  const again = "./live.ts?in-another-process";
  const other: typeof import("#server/features/canvases/live.ts") = await import(again);
  const gone = new AbortController();
  const events = await other.followCanvas({ canvas_id }, last, gone.signal, HEARTBEAT_MS);
  const { value: missed } = await events.next();
  expect(numbers(missed)).toEqual([["b", 5]]);
  gone.abort();
  await events.return(undefined);
  const after = await viewer(canvas_id, idOf(missed));
  const next = after.next();
  await ends(admin, a, 2);
  expect(numbers(await next)).toEqual([["a", 2]]);
});

test("what is changed in the moment in which a canvas is looked at for the first time is not missed", async () => {
  const { admin, canvas, canvas_id } = await world();
  const [widget] = canvas.widgets;
  const saved = vi.fn<(updated_at: string) => void>();
  before.listening = async (payload) => {
    if (payload !== canvas_id) return;
    before.listening = async () => {};
    saved((await updateCanvas(admin, { canvas_id, widgets: [{ ...(widget as Widget), id: "c" }] })).updated_at);
  };
  const { next } = await viewer(canvas_id, "0");
  expect(await next()).toMatchObject({ type: "canvas_changed", data: { updated_at: saved.mock.lastCall?.[0] } });
  expect(await next()).toMatchObject({ type: "canvas_data", data: { widgets: [{ widget_id: "c" }] } });
});

test("an id that says nothing is answered with everything", async () => {
  const { admin, canvas_id, a, b } = await world();
  await ends(admin, a, 1);
  await ends(admin, b, 2);
  for (const last of ["0", "nonsense", "../..", ""]) {
    const { next } = await viewer(canvas_id, last);
    expect(await next()).toMatchObject({ type: "canvas_changed" });
    expect(numbers(await next())).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
  }
});

test("a canvas that somebody changes is told, and what it shows then; with the canvas the stream ends", async () => {
  const { admin, canvas, canvas_id, b } = await world();
  await ends(admin, b, 3);
  const { next } = await viewer(canvas_id);
  const first = next();
  const [widget] = canvas.widgets;
  const saved = await updateCanvas(admin, { canvas_id, widgets: [...canvas.widgets, { ...(widget as Widget), id: "c", workflow_id: b }] });
  expect(await first).toMatchObject({ type: "canvas_changed", data: { canvas_id, updated_at: saved.updated_at } });
  expect(numbers(await next())).toEqual([["c", 3]]);
  const last = next();
  await deleteCanvas(admin, { canvas_id });
  expect(await last).toBeUndefined();
});

/** The clock stands still but where it is told to go on. */
function withoutTime() {
  // The database takes the time that it takes.
  Object.assign(pool().options, { connectionTimeoutMillis: 0, idleTimeoutMillis: 0 });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  /** Time passes until this has come. */
  return async <Value>(awaited: Promise<Value>): Promise<Value> => {
    let isThere = false;
    void awaited.then(() => {
      isThere = true;
    });
    while (!isThere) {
      vi.advanceTimersByTime(400);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return awaited;
  };
}

test("the stream over HTTP: ids to come back with, a range, and nothing of another project", async () => {
  setSettings({ APP_URL: ORIGIN });
  const { admin, canvas_id, a } = await world();
  const [own, other] = [await bridgeOf(admin), await bridgeOf(await database.newAdmin())];
  const open = (id: string, headers: Record<string, string>, query = "") =>
    answerApi(new Request(`${ORIGIN}/api/v1/bridge/canvases/${id}/stream${query}`, { headers }));
  const answer = await open(canvas_id, own.headers);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  await ends(admin, a, 1);
  const [event] = await readEvents(answer, () => true);
  expect(event).toMatchObject({ event: "canvas_data", data: { type: "canvas_data", canvas_id, widgets: [{ widget_id: "a", value: 1 }] } });
  await ends(admin, a, 2);
  const { "x-project-id": _, ...session } = own.headers;
  const missed = await open(canvas_id, { ...session, "last-event-id": event?.id ?? "" }, "?range=7d");
  expect(await readEvents(missed, () => true)).toMatchObject([{ data: { widgets: [{ widget_id: "a", value: 2 }] } }]);
  const refused = async (response: Promise<Response>) => (await response).json();
  expect(await refused(open(canvas_id, own.headers, "?range=ever"))).toMatchObject({ status: 422, errors: [{ path: "range" }] });
  expect(await refused(open(canvas_id, other.headers))).toEqual(await refused(open("never", other.headers)));
});

test("however often something changes it is read once for all who look, and a slow one gets the newest alone", async () => {
  const { admin, canvas_id, a } = await world();
  const until = withoutTime();
  const viewers = await Promise.all(Array.from({ length: 20 }, () => viewer(canvas_id)));
  const first = viewers.map(({ next }) => next());
  for (let total = 1; total <= 20; total++) {
    await ends(admin, a, total);
    await pool().query("SELECT pg_notify('treadle_canvas', $1), pg_notify('treadle_canvas', n::text) FROM generate_series(1, 100) AS n", [
      a,
    ]);
  }
  expect(counted.reads.get(canvas_id)).toBe(1);
  for (const event of await until(Promise.all(first))) expect(numbers(event)).toEqual([["a", 20]]);
  expect(counted.reads.get(canvas_id)).toBe(2);
  const [slow, quick] = viewers as [(typeof viewers)[0], (typeof viewers)[0]];
  for (const total of [21, 22, 23]) {
    const next = quick.next();
    await ends(admin, a, total);
    await until(next);
  }
  expect(numbers(await slow.next())).toEqual([["a", 23]]);
});

test("a wall for a week: after thousands of updates and viewers nothing more is listened for, and in the end nothing", async () => {
  const { admin, canvas_id, a, listeners } = await world();
  const until = withoutTime();
  const wall = await viewer(canvas_id);
  const first = listeners();
  for (let round = 1; round <= 200; round++) {
    const next = wall.next();
    await ends(admin, a, round);
    await pool().query("SELECT pg_notify('treadle_canvas', $1), pg_notify('treadle_canvas', n::text) FROM generate_series(1, 20) AS n", [
      a,
    ]);
    const passing = await viewer(canvas_id);
    const seen = passing.next();
    await passing.leave();
    await seen;
    expect(numbers(await until(next))).toEqual([["a", round]]);
  }
  expect([first, listeners()]).toEqual([3, 3]);
  await wall.leave();
  vi.advanceTimersByTime(10_000);
  expect(listeners()).toBe(0);
});

test("what nobody looks at any more is read no more", async () => {
  const { admin, canvas_id, a, listeners } = await world();
  withoutTime();
  const { leave } = await viewer(canvas_id);
  await leave();
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await ends(admin, a, 1);
  await db().canvas.count();
  expect([listeners(), counted.reads.get(canvas_id)]).toEqual([0, 1]);
});
