import { afterEach, expect, test, vi } from "vitest";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { createEditorSession } from "#components/workflow-editor/session/editor-session.ts";
import type { UpdateWorkflowInput, WorkflowEditorState } from "#server/features/workflows/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import { stubStorage } from "#server/testing/browser-storage.ts";
import type { Graph } from "#server/workflow/schema.ts";

const graphOf = (label: string): Graph => ({
  nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label } }],
  edges: [],
});
const conflict = (detail: string): ErrorBody => ({ status: 409, error_code: "CONFLICT", detail });

/** What a session listens to while it watches the canvas. */
function openPage() {
  const page = new EventTarget();
  vi.stubGlobal("document", page);
  for (const name of ["addEventListener", "removeEventListener"] as const) vi.stubGlobal(name, page[name].bind(page));
}

afterEach(() => vi.unstubAllGlobals());

/** A graph as a server writes it on which the agent Old is called New. */
const renamedOn = (server: { renamedSince: number | null }, graph: Graph): Graph =>
  server.renamedSince === null ? graph : JSON.parse(JSON.stringify(graph).replaceAll("{{Old.", "{{New."));

/** A server that keeps one workflow as the real one does: publishing counts the version up and rewrites the draft. */
function setUp(graph = graphOf("one"), revision = 1) {
  const server = {
    version: 1,
    saved: graph,
    draft: graph,
    revision,
    losesAnswers: false,
    updates: [] as UpdateWorkflowInput[],
    canvasesChanged: { items: [] as { id: string; name: string }[], total: 0 },
    renamedSince: null as number | null,
  };
  const stateOf = () =>
    ({
      workflow: { id: "w", name: "W", version: server.version, ...server.saved },
      draft: {
        ...server.draft,
        revision: server.revision,
        base_version: server.version,
        problems: [],
        problems_total: 0,
        renamed_since: server.renamedSince,
      },
      is_draft_ahead: false,
    }) as unknown as WorkflowEditorState;
  const editor = createEditorStore(server.draft);
  const onCanvasesChanged = vi.fn();
  const session = createEditorSession({
    workflowId: "w",
    initial: stateOf(),
    editor,
    isReadOnly: false,
    onCanvasesChanged,
    api: {
      editor: async () => stateOf(),
      head: async () => ({ version: server.version, revision: server.revision, updated_by: "Ada" }),
      saveDraft: async ({ nodes, edges, revision }) => {
        const isRenamed = server.renamedSince !== null && revision >= server.renamedSince;
        if (revision !== server.revision && !isRenamed) throw conflict("draft");
        Object.assign(server, { draft: renamedOn(server, { nodes, edges }), revision: server.revision + 1 });
        if (server.losesAnswers) throw { status: 0, error_code: "INTERNAL_ERROR", detail: "No answer" };
        return stateOf().draft;
      },
      update: async (input) => {
        server.updates.push(input);
        if (input.version !== undefined && input.version !== server.version) throw conflict("Ana saved version 2");
        server.version += 1;
        if (input.nodes && input.edges) {
          server.saved = renamedOn(server, { nodes: input.nodes, edges: input.edges });
          Object.assign(server, { draft: server.saved, revision: server.revision + 1 });
        }
        return { ...stateOf().workflow, ...(input.name && { name: input.name }), canvases_changed: server.canvasesChanged };
      },
      errorOf: (error) => error as ErrorBody,
    },
  });
  return { server, editor, session, onCanvasesChanged, state: () => session.store.getState() };
}

test("publishing makes the canvas the next version, and the next counts from there", async () => {
  const { server, editor, session, state } = setUp();
  editor.getState().rename("t", "two");
  expect(await session.publish()).toBe(true);
  expect(server.saved).toEqual(graphOf("two"));
  expect(state()).toMatchObject({ version: 2, isAhead: false, publish: { kind: "idle" }, autosave: { kind: "saved" } });
  editor.getState().rename("t", "three");
  expect(await session.publish()).toBe(true);
  // Pressed again, while and after it is sent: there is nothing new.
  expect(await Promise.all([session.publish(), session.publish()])).toEqual([false, false]);
  expect(server.updates.map((update) => update.version)).toEqual([1, 2]);
});

test("a version that somebody published meanwhile is shown as a choice and overwrites nothing", async () => {
  const { server, editor, session, state } = setUp();
  Object.assign(server, { version: 2, saved: graphOf("theirs"), draft: graphOf("theirs"), revision: 2 });
  editor.getState().rename("t", "mine");
  expect(await session.publish()).toBe(false);
  expect(state().publish).toMatchObject({ kind: "conflict", theirs: { workflow: { version: 2 } } });
  expect(server.saved).toEqual(graphOf("theirs"));
  expect(editor.getState().graph()).toEqual(graphOf("mine"));
});

test("theirs can be taken, and undo brings mine back", async () => {
  const { server, editor, session, state } = setUp();
  Object.assign(server, { version: 2, saved: graphOf("theirs"), draft: graphOf("theirs"), revision: 2 });
  editor.getState().rename("t", "mine");
  await session.publish();
  await session.loadTheirs();
  expect(editor.getState().graph()).toEqual(graphOf("theirs"));
  expect(state()).toMatchObject({ version: 2, publish: { kind: "idle" } });
  editor.getState().undo();
  expect(editor.getState().graph()).toEqual(graphOf("mine"));
});

test("what others changed that runs nothing, such as a name or the switch, stands in no publication's way, and the note goes with it once", async () => {
  const { server, editor, session, state } = setUp();
  editor.getState().rename("t", "mine");
  session.describe("Called otherwise");
  server.version = 3;
  expect(await session.publish()).toBe(true);
  expect(state()).toMatchObject({ version: 4, publish: { kind: "idle" }, note: "" });
  editor.getState().rename("t", "mine again");
  await session.publish();
  expect(server.updates.map(({ version, note }) => [version, note])).toEqual([
    [1, "Called otherwise"],
    [3, "Called otherwise"],
    [4, undefined],
  ]);
});

test("a publication names the canvases that follow a new label", async () => {
  const { server, editor, session, onCanvasesChanged } = setUp();
  const changed = { items: [{ id: "c", name: "Sales" }], total: 1 };
  editor.getState().rename("t", "two");
  await session.publish();
  expect(onCanvasesChanged).not.toHaveBeenCalled();
  server.canvasesChanged = changed;
  editor.getState().rename("t", "three");
  await session.publish();
  expect(onCanvasesChanged.mock.calls).toEqual([[changed]]);
});

test("a note outlives a publication that did not go through", async () => {
  const { server, editor, session, state } = setUp();
  Object.assign(server, { version: 2, saved: graphOf("theirs"), draft: graphOf("theirs"), revision: 2 });
  editor.getState().rename("t", "mine");
  session.describe("Mine is better");
  expect(await session.publish()).toBe(false);
  expect(state()).toMatchObject({ publish: { kind: "conflict" }, note: "Mine is better" });
  session.closePublish();
  await session.keepMine();
  expect(await session.publish({ overwrites: true })).toBe(true);
  expect(server.updates.at(-1)).toMatchObject({ note: "Mine is better" });
});

test("mine can be kept: it becomes the version after theirs", async () => {
  const { server, editor, session } = setUp();
  Object.assign(server, { version: 2, saved: graphOf("theirs"), draft: graphOf("theirs"), revision: 2 });
  editor.getState().rename("t", "mine");
  await session.publish();
  session.closePublish();
  await session.keepMine();
  expect(await session.publish({ overwrites: true })).toBe(true);
  expect(server).toMatchObject({ version: 3, saved: graphOf("mine"), draft: graphOf("mine") });
});

test("a new name counts the version up without putting the next version in conflict", async () => {
  const { server, editor, session, state } = setUp();
  await session.change({ name: "Better" });
  expect(state()).toMatchObject({ name: "Better", version: 2 });
  editor.getState().rename("t", "two");
  expect(await session.publish()).toBe(true);
  expect(server.version).toBe(3);
});

const output = (id: string, value: string): Graph["nodes"][number] => ({
  id,
  type: "outputNode",
  position: { x: 0, y: 0 },
  data: { label: id, value },
});
const withOutputs = (a: string, b: string): Graph => ({ nodes: [...graphOf("one").nodes, output("a", a), output("b", b)], edges: [] });

test("both sides of a version can be kept, as one step and without publishing it", async () => {
  const { server, editor, session, state } = setUp(withOutputs("", ""));
  Object.assign(server, { version: 2, saved: withOutputs("", "theirs"), draft: withOutputs("", "theirs"), revision: 2 });
  editor.getState().setField("a", "value", "mine");
  await session.publish();
  expect(session.baseOf("publish")).toMatchObject(withOutputs("", ""));
  expect(await session.keepBoth(false)).toBe(true);
  expect(editor.getState().graph()).toEqual(withOutputs("mine", "theirs"));
  expect(state()).toMatchObject({ version: 2, isAhead: true, publish: { kind: "idle" } });
  await session.flush();
  expect(server).toMatchObject({ version: 2, draft: withOutputs("mine", "theirs") });
  expect(await session.publish()).toBe(true);
  expect(server).toMatchObject({ version: 3, saved: withOutputs("mine", "theirs") });
  editor.getState().undo();
  expect(editor.getState().graph()).toEqual(withOutputs("mine", ""));
});

test("both drafts can be kept, from what this page last sent; where both changed the same somebody has to say so", async () => {
  openPage();
  const { server, editor, session, state } = setUp(withOutputs("", ""));
  const stop = session.start();
  editor.getState().setField("a", "value", "first");
  expect(await session.flush()).toBe(true);
  Object.assign(server, { draft: withOutputs("first", "theirs"), revision: server.revision + 1 });
  editor.getState().setField("a", "value", "second");
  expect(await session.flush()).toBe(false);
  expect(session.baseOf("draft")).toEqual(withOutputs("first", ""));
  // They go on while one looks.
  Object.assign(server, { draft: withOutputs("their second", "theirs"), revision: server.revision + 1 });
  expect(await session.keepBoth(false)).toBe(false);
  expect(state().draftConflict?.draft).toMatchObject(withOutputs("their second", "theirs"));
  expect(editor.getState().graph()).toEqual(withOutputs("second", ""));
  expect(await session.keepBoth(true)).toBe(true);
  expect(await session.flush()).toBe(true);
  expect(server.draft).toEqual(withOutputs("second", "theirs"));
  stop();
});

const keepInBrowser = (copy: object) => stubStorage({ "treadle.unsaved.w": JSON.stringify(copy) });

test("what was sent from here and whose answer was lost is nobody else's, here and after the page was opened again", async () => {
  openPage();
  const kept = stubStorage();
  const { server, editor, session, state } = setUp();
  const stop = session.start();
  server.losesAnswers = true;
  editor.getState().rename("t", "two");
  expect(await session.flush()).toBe(false);
  server.losesAnswers = false;
  expect(server.draft).toEqual(graphOf("two"));
  editor.getState().rename("t", "three");
  // Left before the next try.
  document.dispatchEvent(new Event("visibilitychange"));
  expect(await session.flush()).toBe(true);
  expect(server).toMatchObject({ draft: graphOf("three"), revision: 3 });
  expect(state()).toMatchObject({ autosave: { kind: "saved" }, draftConflict: null });
  expect(session.baseOf("draft")).toEqual(graphOf("three"));
  expect(kept.size).toBe(0);
  stop();

  const copy = { graph: graphOf("three"), revision: 1, base: graphOf("one") };
  for (const [sent, isOurs] of [
    [graphOf("two"), true],
    [graphOf("another"), false],
  ] as const) {
    keepInBrowser({ ...copy, sent });
    const page = setUp(graphOf("two"), 2);
    const leave = page.session.start();
    expect(await page.session.flush()).toBe(isOurs);
    expect(page.state().autosave.kind).toBe(isOurs ? "saved" : "conflict");
    expect(page.server.draft).toEqual(graphOf(isOurs ? "three" : "two"));
    leave();
  }
});

test("what a crash left in the browser knows what it was made from, and an older copy without that is still brought back", async () => {
  openPage();
  const work = { graph: withOutputs("mine", ""), revision: 1 };
  for (const [copy, base] of [
    [{ ...work, base: withOutputs("", "") }, withOutputs("", "")],
    [work, null],
    [{ ...work, base: "broken" }, null],
  ] as const) {
    keepInBrowser(copy);
    const { editor, session, state } = setUp(withOutputs("", "theirs"), 2);
    const stop = session.start();
    expect(editor.getState().graph()).toEqual(withOutputs("mine", ""));
    expect(await session.flush()).toBe(false);
    expect(state().autosave.kind).toBe("conflict");
    expect(session.baseOf("draft")).toEqual(base);
    expect(await session.keepBoth(false)).toBe(base !== null);
    if (base) expect(editor.getState().graph()).toEqual(withOutputs("mine", "theirs"));
    stop();
  }
});

test("what somebody else changed is told when one looks, not while one's own is on its way, and taken over as they left it", async () => {
  const { server, editor, session, state } = setUp();
  await session.check();
  expect(state().elsewhere).toBeNull();
  Object.assign(server, { draft: graphOf("theirs"), revision: 2 });
  await session.check();
  expect(state()).toMatchObject({ elsewhere: { who: "Ada" }, autosave: { kind: "saved" } });
  await session.look();
  expect(state().draftConflict?.draft).toMatchObject(graphOf("theirs"));
  await session.loadTheirs();
  expect(editor.getState().graph()).toEqual(graphOf("theirs"));
  expect(state().elsewhere).toBeNull();

  // One's own changes are never told as somebody else's.
  editor.getState().rename("t", "mine");
  const saving = session.publish();
  await session.check();
  await saving;
  await session.check();
  expect(state().elsewhere).toBeNull();

  // Saving looks at what is known to be there before it writes over it.
  Object.assign(server, { draft: graphOf("theirs again"), revision: server.revision + 1 });
  await session.check();
  expect(await session.publish()).toBe(false);
  expect(server.draft).toMatchObject(graphOf("theirs again"));
  expect(state().draftConflict?.draft).toMatchObject(graphOf("theirs again"));
  await session.loadTheirs();

  // The same graph written again is nothing to tell.
  server.revision += 1;
  await session.check();
  expect(state()).toMatchObject({ elsewhere: null, autosave: { kind: "saved" } });

  // A save that leaves the graph as it is changes the number alone.
  server.version += 1;
  await session.check();
  expect(state()).toMatchObject({ elsewhere: null, version: server.version });
});

test("a change that the server makes is taken as one step, after what was not sent yet, and is no conflict", async () => {
  openPage();
  const { server, editor, session, state } = setUp(withOutputs("", ""));
  const stop = session.start();
  editor.getState().setField("a", "value", "mine");
  const accept = async () => {
    // What I wrote is there already.
    expect(server.draft).toMatchObject(withOutputs("mine", ""));
    editor.getState().setField("a", "value", "mine, written meanwhile");
    Object.assign(server, { draft: withOutputs("mine", "proposed"), revision: server.revision + 1 });
    return {
      ...server.draft,
      revision: server.revision,
      base_version: 1,
      problems: [],
      problems_total: 0,
      updated_at: "",
      updated_by: null,
      renamed_since: null,
    };
  };
  expect(await session.adopt("accept a proposal", accept)).toBe(true);
  expect(editor.getState().graph()).toMatchObject(withOutputs("mine, written meanwhile", "proposed"));
  expect(editor.getState().history.past.at(-1)?.name).toBe("accept a proposal");
  await session.flush();
  expect(server.draft).toMatchObject(withOutputs("mine, written meanwhile", "proposed"));
  editor.getState().undo();
  expect(await session.flush()).toBe(true);
  expect(server.draft).toMatchObject(withOutputs("mine, written meanwhile", ""));
  expect(state()).toMatchObject({ autosave: { kind: "saved" }, draftConflict: null, elsewhere: null });
  stop();
});

test("a change that the server refuses leaves the canvas and what is to be sent as they were", async () => {
  openPage();
  const { server, editor, session } = setUp();
  const stop = session.start();
  const refuse = () => {
    editor.getState().rename("t", "written meanwhile");
    return Promise.reject(conflict("Both changed it."));
  };
  await expect(session.adopt("accept a proposal", refuse)).rejects.toMatchObject({ status: 409 });
  expect(editor.getState().graph()).toEqual(graphOf("written meanwhile"));
  expect(await session.flush()).toBe(true);
  expect(server.draft).toEqual(graphOf("written meanwhile"));

  Object.assign(server, { revision: 9 });
  editor.getState().rename("t", "mine");
  expect(await session.adopt("accept a proposal", refuse)).toBe(false);
  expect(editor.getState().graph()).toEqual(graphOf("mine"));
  stop();
});

/** The server renames an agent, in the draft and as a version of its own. */
function renameAgent(server: ReturnType<typeof setUp>["server"]) {
  Object.assign(server, { renamedSince: server.revision, version: server.version + 1, revision: server.revision + 1 });
  Object.assign(server, { saved: renamedOn(server, server.saved), draft: renamedOn(server, server.draft) });
}

test("a rename of an agent reaches a canvas with unsaved changes without a conflict", async () => {
  openPage();
  const { server, editor, session, state } = setUp(withOutputs("{{Old.output}}", ""));
  const stop = session.start();
  editor.getState().setField("b", "value", "{{Old.output}} too");
  renameAgent(server);

  expect(await session.flush()).toBe(true);

  const expected = withOutputs("{{New.output}}", "{{New.output}} too");
  expect(server.draft).toEqual(expected);
  expect(editor.getState().graph()).toEqual(expected);
  await vi.waitFor(() => expect(state()).toMatchObject({ version: 2, isAhead: true, autosave: { kind: "saved" }, draftConflict: null }));
  stop();
});

test("a rename of an agent reaches a canvas without changes as no one's change", async () => {
  const { server, editor, session, state } = setUp(withOutputs("{{Old.output}}", ""));
  renameAgent(server);

  await session.check();

  expect(editor.getState().graph()).toEqual(withOutputs("{{New.output}}", ""));
  expect(state()).toMatchObject({ version: 2, isAhead: false, elsewhere: null });
});

test("publishing after a rename of an agent takes the new name", async () => {
  const { server, editor, session, state } = setUp(withOutputs("{{Old.output}}", ""));
  editor.getState().setField("b", "value", "mine");
  renameAgent(server);
  server.version = 1;

  expect(await session.publish()).toBe(true);

  expect(server.saved).toEqual(withOutputs("{{New.output}}", "mine"));
  expect(editor.getState().graph()).toEqual(server.saved);
  expect(state()).toMatchObject({ publish: { kind: "idle" } });
});
