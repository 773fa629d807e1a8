import { beforeAll, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { childSweep, startChild } from "#server/features/workflows/children.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow, deleteWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { cancelChildren, tellParent } from "#server/runs/use-cases/end-children.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { dyingAfter } from "#server/testing/new-run.ts";
import { newWorkflow } from "#server/testing/new-workflow.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  collectEvents();
});

/** One that answers with what it was given. */
const echo = () => newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode", { value: "got {{trigger.output}}" }] }, ["t>o"]);
const calling = (workflow_id: string, data: object = {}) =>
  newWorkflow(admin, { t: ["triggerNode"], w: ["workflowNode", { workflow_id, ...data }], o: ["outputNode"] }, ["t>w", "w>o"]);
const start = async (workflow_id: string, input = "tea") => (await executeWorkflow(admin, { workflow_id, input })).execution_id;
const read = (execution_id: string) => getExecution(admin, { execution_id });
const childOf = async (id: string) => (await read(id)).node_results.w?.child_execution_id ?? "";

/** What the service does of itself, one after the other: nothing of it is lost when the test looks. */
function services(own: Partial<EngineServices> = {}) {
  const todo: (() => Promise<void>)[] = [];
  const made = storedServices({
    childrenWanted: (ids) => void todo.push(...ids.map((id) => () => startChild(id))),
    childEnded: (id) => void todo.push(() => tellParent(id)),
    parentEnded: (id) => void todo.push(() => cancelChildren(id)),
    ...own,
  });
  return { made, todo };
}

/** Runs a run with all that it starts, to their ends. */
async function runThrough(id: string): Promise<void> {
  const { made, todo } = services();
  for (let round = 0; round < 40; round++) {
    const isOpen = { completed_at: null, lease_until: null, project_id: admin.project.id };
    // What was woken is looked for a little later where no worker is told.
    const isUp = [{ is_asleep: false }, { run_at: { lte: new Date(Date.now() + 30_000) } }];
    const due = await db().execution.findMany({ where: { ...isOpen, OR: isUp }, select: { id: true } });
    for (const run of due) await claimAndExecute(made, run.id, 60);
    const work = todo.splice(0);
    for (const each of work) await each();
    if (!due.length && !work.length) return;
  }
  throw new Error(`${id} does not come to an end.`);
}

test("a node runs another workflow, waits for it and passes its output on", async () => {
  const workflow_id = await calling(await echo());
  const id = await start(workflow_id);
  const { made, todo } = services();
  await claimAndExecute(made, id, 60);
  expect(await read(id)).toMatchObject({ status: "running", node_results: { w: { status: "waiting" } } });
  await todo.shift()?.();
  const child = await childOf(id);
  expect(await read(child)).toMatchObject({
    trigger: "workflow",
    input: "tea",
    parent: { execution_id: id, node_id: "w" },
    rerun_of: null,
  });
  await runThrough(id);
  expect(await read(id)).toMatchObject({ status: "completed", output: "got tea", parent: null });
  expect(await childOf(id)).toBe(child);
  // It spends nothing of the project's hour.
  expect(await db().execution.findMany({ where: { parent_id: id }, select: { is_counted: true, depth: true } })).toEqual([
    { is_counted: false, depth: 2 },
  ]);
});

test("an input of its own, values for a form, and an older version", async () => {
  const form = await newWorkflow(
    admin,
    {
      t: [
        "triggerNode",
        {
          kind: "params",
          parameters: [
            { name: "n", label: "N", type: "number", required: true },
            { name: "w", label: "W", type: "text", default: "x" },
          ],
        },
      ],
      o: ["outputNode", { value: "{{trigger.n}} {{trigger.w}}" }],
    },
    ["t>o"],
  );
  const outputs: (string | null)[] = [];
  const errors: (string | null)[] = [];
  const old = await echo();
  await updateWorkflow(admin, {
    workflow_id: old,
    ...graphOf({ nodes: { t: ["triggerNode"], o: ["outputNode", { value: "new" }] }, edges: ["t>o"] }),
  });
  for (const [workflow_id, data] of [
    [old, { input: "<{{trigger.output}}>", version: 1 }],
    [old, {}],
    [old, { version: 7 }],
    [form, { params: { n: "{{trigger.output | length}}" } }],
    [form, { params: { n: "many" } }],
    [form, {}],
    [form, { input: "text" }],
  ] as const) {
    const id = await start(await calling(workflow_id, data));
    await runThrough(id);
    const { output, error } = await read(id);
    outputs.push(output);
    errors.push(error);
  }
  expect(outputs).toEqual(["got <tea>", "new", null, "3 x", null, null, null]);
  expect(errors.map((error) => error?.replace(/^w: /, "") ?? null)).toEqual([
    null,
    null,
    "The workflow that this node runs has no version 7.",
    null,
    expect.stringContaining('"n" must be a number'),
    expect.stringContaining('"n"'),
    expect.stringContaining("takes `params`"),
  ]);
});

test("a failure comes in the other one's words, and can be passed on; a rejection and a cancellation fail the node too", async () => {
  const failing = await newWorkflow(admin, { t: ["triggerNode"], x: ["terminateNode", { status: "failed", message: "No tea left" }] }, [
    "t>x",
  ]);
  const id = await start(await calling(failing));
  await runThrough(id);
  expect(await read(id)).toMatchObject({ status: "failed", error: "w: No tea left" });
  const on = await start(await calling(failing, { on_error: "continue" }));
  await runThrough(on);
  expect(await read(on)).toMatchObject({ status: "completed", output: "No tea left" });
  const waiting = await newWorkflow(admin, { t: ["triggerNode"], w: ["waitNode", { mode: "callback" }], o: ["outputNode"] }, [
    "t>w",
    "w.done>o",
  ]);
  const cancelled = await start(await calling(waiting));
  await runThrough(cancelled);
  await cancelExecution(admin, { execution_id: await childOf(cancelled) });
  await runThrough(cancelled);
  expect(await read(cancelled)).toMatchObject({ status: "failed", error: "w: The workflow's run was cancelled." });
});

test("cancelling goes down all the way, and so does any other end", async () => {
  const waiting = await newWorkflow(admin, { t: ["triggerNode"], w: ["waitNode", { mode: "callback" }], o: ["outputNode"] }, [
    "t>w",
    "w.done>o",
  ]);
  const middle = await calling(waiting);
  const id = await start(await calling(middle));
  await runThrough(id);
  const child = await childOf(id);
  const grandchild = await childOf(child);
  expect((await read(grandchild)).status).toBe("running");
  await cancelExecution(admin, { execution_id: id });
  expect([(await read(child)).status, (await read(grandchild)).status]).toEqual(["cancelled", "cancelled"]);
  const ended = await start(
    await newWorkflow(
      admin,
      {
        t: ["triggerNode"],
        w: ["workflowNode", { workflow_id: waiting }],
        c: ["waitNode", { mode: "for", seconds: 60 }],
        x: ["terminateNode"],
      },
      ["t>w", "t>c", "c.done>x"],
    ),
  );
  await runThrough(ended);
  const left = await childOf(ended);
  await pool().query("UPDATE waits SET deadline = now() WHERE execution_id = $1 AND reason = 'time'", [ended]);
  await pool().query("UPDATE executions SET run_at = now() WHERE id = $1", [ended]);
  await runThrough(ended);
  expect([(await read(ended)).status, (await read(left)).status]).toEqual(["completed", "cancelled"]);
});

test("workflows that run each other end when they are too deep", async () => {
  const first = await echo();
  const third = await calling(first);
  const second = await calling(third);
  const round = graphOf({
    nodes: { t: ["triggerNode"], w: ["workflowNode", { workflow_id: second }], o: ["outputNode"] },
    edges: ["t>w", "w>o"],
  });
  await updateWorkflow(admin, { workflow_id: first, ...round });
  const id = await start(first);
  await runThrough(id);
  const { status, error } = await read(id);
  expect(status).toBe("failed");
  expect(error).toContain("Workflows run each other 10 deep at most");
  expect(await db().execution.aggregate({ _max: { depth: true }, where: { project_id: admin.project.id } })).toEqual({
    _max: { depth: 10 },
  });
});

test("one run brings about so many others at most, whichever of them starts them", async () => {
  const child = await calling(await echo());
  const l = ["loopNode", { items_expression: "[1,2]", concurrency: 1, on_item_error: "continue" }] satisfies Golden["nodes"][string];
  const nodes = { t: ["triggerNode"], l, w: ["workflowNode", { workflow_id: child }], o: ["outputNode"] } satisfies Golden["nodes"];
  const id = await start(await newWorkflow(admin, nodes, ["t>l", "l.body>w", "l.done>o"]));
  await db().execution.update({ where: { id }, data: { runs_started: 9_997 } });
  await runThrough(id);
  expect((await read(id)).output).toMatch(/^\["got 1",.*brings about 10,000 others at most/);
  const { runs_started } = await db().execution.findUniqueOrThrow({ where: { id } });
  expect(runs_started).toBe(10_000);
  expect(
    await db().execution.findMany({ where: { parent_id: id }, select: { status: true, runs_started: true }, orderBy: { id: "asc" } }),
  ).toEqual([
    { status: "completed", runs_started: 0 },
    { status: "failed", runs_started: 0 },
  ]);
});

test("a workflow that was deleted while runs of others go on fails their node with that", async () => {
  const workflow_id = await echo();
  const id = await start(await calling(workflow_id));
  await db().workflow.update({ where: { id: workflow_id }, data: { deleted_at: new Date() } });
  await runThrough(id);
  expect(await read(id)).toMatchObject({ status: "failed", error: "w: The workflow that this node runs has been deleted." });
});

test("each item of a loop runs its own, and a rerun takes over what it left", async () => {
  const workflow_id = await echo();
  const l = ["loopNode", { items_expression: '["a","b"]', concurrency: 2 }] satisfies Golden["nodes"][string];
  const id = await start(
    await newWorkflow(admin, { t: ["triggerNode"], l, w: ["workflowNode", { workflow_id }], o: ["outputNode"] }, [
      "t>l",
      "l.body>w",
      "l.done>o",
    ]),
  );
  await runThrough(id);
  expect(await read(id)).toMatchObject({ status: "completed", output: '["got a","got b"]' });
  const before = await db().execution.count({ where: { parent_id: { not: null } } });
  const again = await rerunExecution(admin, { execution_id: id, from_node_id: "o", use_current: false });
  await runThrough(again.execution_id);
  expect(await read(again.execution_id)).toMatchObject({ status: "completed", output: '["got a","got b"]' });
  expect(await db().execution.count({ where: { parent_id: { not: null } } })).toBe(before);
});

test("whatever dies in between, the sweep starts what was wanted once, tells its end, and leaves nothing that nobody waits for", async () => {
  const id = await start(await calling(await echo()));
  const { made } = services({ store: dyingAfter(runStore, ({ waits = [] }) => waits.length > 0), childrenWanted: () => undefined });
  await expect(claimAndExecute(made, id, 60)).rejects.toThrow("killed");
  await pool().query("UPDATE waits SET created_at = now() - interval '1 minute' WHERE execution_id = $1", [id]);
  await Promise.all([sweep(childSweep), sweep(childSweep)]);
  const child = await childOf(id);
  expect(await db().execution.count({ where: { parent_id: id } })).toBe(1);
  await startChild(child);
  expect((await db().execution.findUniqueOrThrow({ where: { id } })).runs_started).toBeLessThanOrEqual(2);
  // Its end is not told.
  await claimAndExecute(services({ childEnded: () => undefined }).made, child, 60);
  await pool().query("UPDATE executions SET completed_at = now() - interval '1 minute' WHERE id = $1", [child]);
  await sweep(childSweep);
  await pool().query("UPDATE executions SET lease_until = NULL, run_at = now() WHERE id = $1", [id]);
  await runThrough(id);
  expect(await read(id)).toMatchObject({ status: "completed", output: "got tea" });
  // One whose parent has ended without a word.
  const waiting = await newWorkflow(admin, { t: ["triggerNode"], w: ["waitNode", { mode: "callback" }], o: ["outputNode"] }, [
    "t>w",
    "w.done>o",
  ]);
  const lost = await start(await calling(waiting));
  await runThrough(lost);
  // Nor has it said that the other one is under way.
  await pool().query("UPDATE waits SET notified_at = NULL, created_at = now() - interval '1 minute' WHERE execution_id = $1", [lost]);
  await sweep(childSweep);
  await pool().query("UPDATE waits SET status = 'withdrawn' WHERE execution_id = $1", [lost]);
  await sweep(childSweep);
  expect((await read(await childOf(lost))).status).toBe("cancelled");
  await cancelExecution(admin, { execution_id: lost });
});

test("a workflow that others run is not deleted, none runs itself, and what cannot be run is a problem", async () => {
  const workflow_id = await echo();
  const caller = await calling(workflow_id);
  const { name } = await db().workflow.findUniqueOrThrow({ where: { id: caller } });
  await expect(deleteWorkflow(admin, { workflow_id })).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining(name) });
  const own = graphOf({ nodes: { t: ["triggerNode"], w: ["workflowNode", { workflow_id }], o: ["outputNode"] }, edges: ["t>w", "w>o"] });
  await expect(updateWorkflow(admin, { workflow_id, ...own })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining("its own workflow"),
  });
  const problems = async (data: object) =>
    (
      await createWorkflow(admin, {
        name: `Wrong ${JSON.stringify(data)}`,
        ...graphOf({ nodes: { t: ["triggerNode"], w: ["workflowNode", data as never] }, edges: ["t>w"] }),
      })
    ).problems;
  expect(await problems({})).toMatchObject([{ node_id: "w", field: "workflow_id", message: "Choose a workflow." }]);
  const foreign = await database.newAdmin();
  const theirs = (await createWorkflow(foreign, { name: "Theirs", ...own })).id;
  for (const gone of ["019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", "no id", theirs])
    expect(await problems({ workflow_id: gone }), gone).toMatchObject([
      { field: "workflow_id", message: expect.stringContaining("not in this project") },
    ]);
  await deleteWorkflow(admin, { workflow_id: caller });
  await deleteWorkflow(admin, { workflow_id });
  const broken = await createWorkflow(admin, { name: "Calls what is gone", ...own });
  await expect(start(broken.id)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});
