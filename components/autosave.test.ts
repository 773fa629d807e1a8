import { expect, test } from "vitest";
import { AUTOSAVE_DELAY_MS, type AutosaveState, createAutosave } from "#components/autosave.ts";
import { validateDraft } from "#components/workflow-editor/session/editor-session.ts";
import type { WorkflowDraft } from "#server/features/workflows/schema.ts";
import type { ErrorBody } from "#server/shared/error-schema.ts";
import type { Graph } from "#server/workflow/schema.ts";

const trigger = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } };
const graphWith = (text: string): Graph => ({ nodes: [{ ...trigger, data: { label: text } }], edges: [] });
const error = (status: number, error_code: ErrorBody["error_code"]): ErrorBody => ({ status, error_code, detail: `${status}` });

/** A clock that moves when told, and a server that answers when told. */
function setUp() {
  const timers = new Map<number, { at: number; run: () => void }>();
  let now = 0;
  let ids = 0;
  let graph = graphWith("first");
  const states: AutosaveState[] = [];
  const sends: { graph: Graph; revision: number; settle: (failure?: ErrorBody) => Promise<void> }[] = [];
  const autosave = createAutosave<Graph, WorkflowDraft, number>({
    revision: 1,
    work: () => graph,
    revisionOf: ({ revision }) => revision,
    holdBack: validateDraft,
    send: (sent, revision) =>
      new Promise((resolve, reject) => {
        const settle = async (failure?: ErrorBody) => {
          if (failure) reject(failure);
          else resolve({ ...sent, revision: revision + 1 } as WorkflowDraft);
          for (let turn = 0; turn < 10; turn++) await Promise.resolve();
        };
        sends.push({ graph: sent, revision, settle });
      }),
    errorOf: (failure) => failure as ErrorBody,
    onState: (state) => states.push(state),
    onSaved: () => {},
    clock: {
      now: () => now,
      setTimer(run, ms) {
        ids += 1;
        timers.set(ids, { at: now + ms, run });
        return ids;
      },
      clearTimer: (id) => timers.delete(id as number),
    },
  });
  const pass = (ms: number) => {
    now += ms;
    for (const [id, timer] of [...timers]) {
      if (timer.at > now) continue;
      timers.delete(id);
      timer.run();
    }
  };
  const edit = (next: Graph) => {
    graph = next;
    autosave.change();
  };
  return { autosave, states, sends, pass, edit };
}

test("a pause after the last of several changes sends the newest graph once", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit(graphWith("a"));
  pass(AUTOSAVE_DELAY_MS - 1);
  edit(graphWith("b"));
  pass(AUTOSAVE_DELAY_MS - 1);
  expect(sends).toHaveLength(0);
  expect(autosave.state.kind).toBe("changed");
  pass(1);
  expect(sends.map(({ graph, revision }) => [graph.nodes[0]?.data.label, revision])).toEqual([["b", 1]]);
  expect(autosave.state.kind).toBe("saving");
  await sends[0]?.settle();
  expect(autosave.state.kind).toBe("saved");
  expect(autosave.isPending).toBe(false);
});

test("what changes during a send goes with the next one, on the new revision", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit(graphWith("a"));
  pass(AUTOSAVE_DELAY_MS);
  edit(graphWith("b"));
  await sends[0]?.settle();
  expect(autosave.state.kind).toBe("changed");
  pass(AUTOSAVE_DELAY_MS);
  expect(sends[1]).toMatchObject({ revision: 2, graph: graphWith("b") });
});

test("an empty graph, or one without its trigger, is never sent", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit({ nodes: [], edges: [] });
  pass(AUTOSAVE_DELAY_MS);
  expect(autosave.state.kind).toBe("held");
  edit({ nodes: [{ ...trigger, type: "noteNode" }], edges: [] });
  pass(AUTOSAVE_DELAY_MS);
  expect(await autosave.flush()).toBe(false);
  expect(sends).toHaveLength(0);
  edit(graphWith("back"));
  pass(AUTOSAVE_DELAY_MS);
  expect(sends).toHaveLength(1);
});

test("a failure is tried again with a visible countdown and growing waits", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit(graphWith("a"));
  pass(AUTOSAVE_DELAY_MS);
  await sends[0]?.settle(error(0, "INTERNAL_ERROR"));
  expect(autosave.state).toMatchObject({ kind: "retrying", retryAt: AUTOSAVE_DELAY_MS + 2000 });
  edit(graphWith("b"));
  pass(2000);
  expect(sends[1]?.graph).toEqual(graphWith("b"));
  await sends[1]?.settle(error(500, "INTERNAL_ERROR"));
  expect(autosave.state).toMatchObject({ kind: "retrying", retryAt: AUTOSAVE_DELAY_MS + 2000 + 4000 });
  pass(4000);
  await sends[2]?.settle();
  expect(autosave.state.kind).toBe("saved");
});

test("flushing sends at once and says whether the server has everything", async () => {
  const { autosave, sends, edit } = setUp();
  expect(await autosave.flush()).toBe(true);
  edit(graphWith("a"));
  const done = autosave.flush();
  expect(sends).toHaveLength(1);
  edit(graphWith("b"));
  await sends[0]?.settle();
  await sends[1]?.settle();
  expect(await done).toBe(true);
  expect(sends[1]?.graph).toEqual(graphWith("b"));
});

test("a conflict stops sending until a side is chosen; mine goes over the other revision", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit(graphWith("mine"));
  pass(AUTOSAVE_DELAY_MS);
  await sends[0]?.settle(error(409, "CONFLICT"));
  expect(autosave.state.kind).toBe("conflict");
  edit(graphWith("mine, later"));
  pass(60_000);
  expect(await autosave.flush()).toBe(false);
  expect(sends).toHaveLength(1);
  autosave.rebase(7, true);
  expect(sends[1]).toMatchObject({ revision: 7, graph: graphWith("mine, later") });
  await sends[1]?.settle();
  expect(autosave.state.kind).toBe("saved");
});

test("theirs is taken without sending anything", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit(graphWith("mine"));
  pass(AUTOSAVE_DELAY_MS);
  await sends[0]?.settle(error(409, "CONFLICT"));
  autosave.rebase(7, false);
  pass(60_000);
  expect(sends).toHaveLength(1);
  expect(autosave.isPending).toBe(false);
  edit(graphWith("on top of theirs"));
  pass(AUTOSAVE_DELAY_MS);
  expect(sends[1]?.revision).toBe(7);
});

test("what the server will never take is not tried again by itself", async () => {
  const { autosave, sends, pass, edit } = setUp();
  edit(graphWith("a"));
  pass(AUTOSAVE_DELAY_MS);
  await sends[0]?.settle(error(403, "PERMISSION_DENIED"));
  pass(600_000);
  expect(autosave.state).toEqual({ kind: "refused", detail: "403" });
  expect(sends).toHaveLength(1);
  expect(autosave.isPending).toBe(true);
});
