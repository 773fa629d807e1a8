import { expect, test, vi } from "vitest";
import { AUTOSAVE_DELAY_MS } from "#components/autosave.ts";
import { type CanvasApi, createEditingSession } from "#components/canvases/editing/editing-session.ts";
import type { Canvas, Widget } from "#server/features/canvases/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { stubStorage } from "#server/testing/browser-storage.ts";

const widget = (id: string, y = 0): Widget => ({
  ...{ id, type: "text", title: id, workflow_id: "w", output_label: null, layout: { x: 0, y, w: 6, h: 4 } },
});
const error = (status: number, error_code: ErrorBody["error_code"]): ErrorBody => ({ status, error_code, detail: String(status) });

/** A server with one canvas, which others can change, and which can be away. */
function setUp(...widgets: Widget[]) {
  let tick = 0;
  const stamp = () => new Date(Date.UTC(2026, 0, 1, 0, 0, ++tick)).toISOString();
  const server = {
    canvas: { id: "c", name: "Sales", widgets, created_at: stamp(), updated_at: stamp() } as Canvas,
    isAway: false,
    losesAnswers: false,
    put: (next: Widget[]) => {
      server.canvas = { ...server.canvas, widgets: next, updated_at: stamp() };
      return server.canvas;
    },
  };
  const api: CanvasApi = {
    read: async () => server.canvas,
    save: async (next, since) => {
      if (server.isAway) throw error(0, "INTERNAL_ERROR");
      if (since !== server.canvas.updated_at) throw error(409, "CONFLICT");
      const saved = server.put(next);
      if (server.losesAnswers) throw error(0, "INTERNAL_ERROR");
      return saved;
    },
    errorOf: (failure) => failure as ErrorBody,
  };
  const open = () => createEditingSession({ canvas: server.canvas, api });
  const ids = () => server.canvas.widgets.map(({ id }) => id);
  return { server, open, ids };
}

test("what two people do at the same time is all there, here and on the server", async () => {
  const { server, open, ids } = setUp(widget("a"));
  const session = open();
  session.edit("add", [widget("a"), widget("mine", 4)]);
  server.put([widget("a"), widget("theirs", 4)]);
  expect(await session.flush()).toBe(true);
  expect(ids()).toEqual(["a", "theirs", "mine"]);
  expect(session.store.getState()).toMatchObject({ widgets: server.canvas.widgets, merges: 1 });
  // Taking back what I did leaves alone what they did.
  expect(session.undo()).toBe("add");
  await session.flush();
  expect(ids()).toEqual(["a", "theirs"]);
  expect(session.redo()).toBe("add");
  await session.flush();
  expect(ids()).toEqual(["a", "theirs", "mine"]);
});

test("what others save while nothing is changed here is taken over, and what was read before is not", async () => {
  const { server, open, ids } = setUp(widget("a"));
  const session = open();
  const before = server.canvas;
  session.take(server.put([widget("a"), widget("theirs", 4)]));
  expect(session.store.getState()).toMatchObject({ widgets: server.canvas.widgets, autosave: { kind: "saved" }, merges: 1 });
  session.take(before);
  expect(session.store.getState().widgets).toHaveLength(2);
  session.edit("delete a", [widget("theirs", 4)]);
  session.take(server.put([widget("a"), widget("theirs", 4), widget("more", 8)]));
  expect(session.store.getState().widgets).toHaveLength(1);
  await session.flush();
  expect(ids()).toEqual(["theirs", "more"]);
});

test("what is not on the server yet is kept in the browser, and is there when the page is opened again", async () => {
  const kept = stubStorage();
  const { server, open, ids } = setUp(widget("a"));
  const session = open();
  server.isAway = true;
  session.edit("add", [widget("a"), widget("mine", 4)]);
  expect(await session.flush()).toBe(false);
  expect(session.store.getState().autosave.kind).toBe("retrying");
  session.stop();
  server.isAway = false;
  server.put([widget("theirs", 4)]);
  const again = open();
  expect(again.isRestored).toBe(true);
  again.start();
  await again.flush();
  expect(ids()).toEqual(["theirs", "mine"]);
  expect(kept.size).toBe(0);
  expect(open().isRestored).toBe(false);
  vi.unstubAllGlobals();
});

test("what was sent and whose answer was lost is one's own: nobody is told of it, and it can be taken back", async () => {
  const { server, open, ids } = setUp(widget("a"));
  const session = open();
  server.losesAnswers = true;
  session.edit("add", [widget("a"), widget("mine", 4)]);
  expect(await session.flush()).toBe(false);
  server.losesAnswers = false;
  expect(ids()).toEqual(["a", "mine"]);
  session.edit("add", [widget("a"), widget("mine", 4), widget("more", 8)]);
  expect(await session.flush()).toBe(true);
  expect(session.store.getState().merges).toBe(0);
  for (const left of [["a", "mine"], ["a"]]) {
    session.undo();
    expect(await session.flush()).toBe(true);
    expect(ids()).toEqual(left);
  }
});

test("quick steps of one kind are one step back, and nothing changed is no step", async () => {
  vi.useFakeTimers();
  const { open, ids } = setUp(widget("a"));
  const session = open();
  for (const y of [1, 2, 3]) session.edit("move a", [widget("a", y)], "move a");
  session.edit("move a", [widget("a", 3)]);
  await vi.advanceTimersByTimeAsync(AUTOSAVE_DELAY_MS);
  expect(session.store.getState().autosave).toEqual({ kind: "saved" });
  expect(session.undo()).toBe("move a");
  expect(session.store.getState().widgets).toEqual([widget("a", 0)]);
  expect(session.undo()).toBeNull();
  expect(ids()).toEqual(["a"]);
  vi.useRealTimers();
});

test("a canvas that was deleted meanwhile takes nothing any more, and says so", async () => {
  const { server, ids } = setUp(widget("a"));
  const gone = () => Promise.reject(error(404, "NOT_FOUND"));
  const session = createEditingSession({
    canvas: server.canvas,
    api: { read: gone, save: gone, errorOf: (failure) => failure as ErrorBody },
  });
  session.edit("add", [widget("b")]);
  expect(await session.flush()).toBe(false);
  expect(session.store.getState().autosave).toEqual({ kind: "refused", detail: "404" });
  expect(ids()).toEqual(["a"]);
});

test("what was saved while the page was left is not put back over what others did later", async () => {
  stubStorage();
  const { server, open, ids } = setUp(widget("a"));
  const session = open();
  session.edit("add", [widget("a"), widget("mine", 4)]);
  session.stop();
  await vi.waitFor(() => expect(ids()).toEqual(["a", "mine"]));
  server.put([widget("a")]);
  expect(open().isRestored).toBe(false);
  vi.unstubAllGlobals();
});
