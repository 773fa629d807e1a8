import { beforeEach, expect, test } from "vitest";
import { forkExecution } from "#server/features/executions/fork-execution.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { ForkInput } from "#server/features/executions/schema.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { RerunInput } from "#server/runs/schema.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeEach(async () => {
  admin = await database.newAdmin();
});

const code = (text: string) => ({ code: "text", inputs: [{ name: "text", value: text }] });
const graph = graphOf({
  nodes: {
    t: ["triggerNode"],
    early: ["codeNode", code("early")],
    first: ["codeNode", code("first {{trigger.output}}")],
    beside: ["codeNode", code("beside {{trigger.output}}")],
    second: ["codeNode", code("second {{first.output}} {{early.output}}")],
    o: ["outputNode", { value: "{{second.output}}, {{beside.output}}" }],
  },
  edges: ["t>early", "early>first", "t>beside", "first>second", "second>o", "beside>o"],
});

/** Plays a run to its end. @returns its output, and the nodes that it did not run */
async function ended(started: Promise<{ execution_id: string }>) {
  const { execution_id } = await started;
  const runCode = async ({ inputs }: { inputs: Readonly<Record<string, string>> }) => ({ output: inputs.text ?? "", printed: "" });
  await claimAndExecute(storedServices({ runCode }), execution_id, 60);
  const { values, status, workflow_id } = await db().execution.findUniqueOrThrow({
    where: { id: execution_id },
    include: { values: true },
  });
  const rows = await db().nodeRun.findMany({ where: { execution_id, reused: true }, orderBy: { node_id: "asc" } });
  expect(status).toBe("completed");
  return { id: execution_id, workflow_id, output: values?.output, reused: rows.map(({ node_id }) => node_id) };
}

async function original() {
  const { id: workflow_id } = await createWorkflow(admin, { name: "Flow", ...graph });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  return ended(startExecution({ ...common, trigger: "manual", input: "x", params: null }));
}

const WAYS = {
  rerun: (execution_id: string, fields: object) => rerunExecution(admin, RerunInput.parse({ execution_id, ...fields })),
  fork: (execution_id: string, fields: object) => forkExecution(admin, ForkInput.parse({ execution_id, ...fields })),
};

test.each(["rerun", "fork"] as const)("a %s with another input starts at what reads the trigger", async (way) => {
  const { id } = await original();

  const again = await ended(WAYS[way](id, { input: "y" }));

  expect(again).toMatchObject({ output: "second first y early, beside y", reused: ["early"] });
});

test("a rerun with the same values runs everything", async () => {
  const { id } = await original();

  expect((await ended(WAYS.rerun(id, { input: "x" }))).reused).toEqual([]);
});

test("a rerun of the current version with another input runs what was edited", async () => {
  const { id, workflow_id } = await original();
  const nodes = graph.nodes.map((node) => (node.id === "early" ? { ...node, data: { ...node.data, ...code("late") } } : node));
  await updateWorkflow(admin, { workflow_id, nodes });

  const again = await ended(WAYS.rerun(id, { input: "y", use_current: true }));

  expect(again).toMatchObject({ output: "second first y late, beside y", reused: [] });
});

test.each(["rerun", "fork"] as const)("a %s is refused when a reused result read the former input", async (way) => {
  const { id } = await original();

  const refused = WAYS[way](id, { input: "y", from_node_id: "second" });

  await expect(refused).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringMatching(/"beside" is based.*Leave out from_node_id.*reuse_stale: true/),
    errors: [{ path: "reuse_stale" }],
  });
});

test.each(["rerun", "fork"] as const)("a %s reuses a result that read the former input when asked to", async (way) => {
  const { id } = await original();

  const again = await ended(WAYS[way](id, { input: "y", from_node_id: "second", reuse_stale: true }));

  expect(again).toMatchObject({ output: "second first x early, beside x", reused: ["beside", "early", "first"] });
});

test("a rerun from a node takes the same values without a question", async () => {
  const { id } = await original();

  expect((await ended(WAYS.rerun(id, { input: "x", from_node_id: "second" }))).reused).toEqual(["beside", "early", "first", "t"]);
});
