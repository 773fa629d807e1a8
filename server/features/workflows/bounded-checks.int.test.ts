import { expect, test } from "vitest";
import { createAgent } from "#server/features/agents/service.ts";
import { importWorkflow } from "#server/features/workflow-files/import.ts";
import { ImportWorkflowInput } from "#server/features/workflow-files/schema.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { db } from "#server/platform/db/client.ts";
import { type AppError, errorBody } from "#server/platform/errors.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

const database = testDatabase();

const node = (id: string, type: string, data: object = {}): GraphNode => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
});
const edge = (source: string, target: string) => ({ id: `${source}>${target}`, source, target });
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("accepted"),
    (error: unknown) => error as AppError,
  );

/** A trigger, and nodes in a row that each lead back to the first one. */
function circles(count: number): Graph {
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  const edges = ids.slice(1).flatMap((id, index) => [edge(`n${index}`, id), edge(id, "n0")]);
  return { nodes: [node("t", "triggerNode"), ...ids.map((id) => node(id, "outputNode"))], edges: [edge("t", "n0"), ...edges] };
}

const readers = (text: string): Graph => ({
  nodes: [node("t", "triggerNode"), node("o", "outputNode", { value: text })],
  edges: [edge("t", "o")],
});

test("a refused save lists 50 faults with their total", async () => {
  const error = await refusal(createWorkflow(await database.newAdmin(), { name: "Round", ...circles(101) }));

  expect(error.errors).toHaveLength(50);
  expect(errorBody(error)).toMatchObject({ status: 422, total: 100 });
});

test("an answer lists 50 problems with their total", async () => {
  const admin = await database.newAdmin();
  const { id } = await createWorkflow(admin, { name: "Reader", ...readers("{{nobody.output}}".repeat(120)) });

  const { problems, problems_total } = await getWorkflow(admin, { workflow_id: id });
  const error = await refusal(executeWorkflow(admin, { workflow_id: id }));

  expect(problems).toHaveLength(50);
  expect(problems_total).toBe(120);
  expect(error).toMatchObject({ code: "VALIDATION_ERROR", total: 120 });
  expect(error.errors).toHaveLength(50);
});

test("a workflow with warnings runs", async () => {
  const admin = await database.newAdmin();
  const graph = readers("x");
  graph.nodes.push(node("lonely", "outputNode", { vlaue: "x" }));

  const { id, problems } = await createWorkflow(admin, { name: "Warned", ...graph });

  expect(problems.map(({ severity, field }) => [severity, field])).toEqual([
    ["warning", "vlaue"],
    ["warning", null],
  ]);
  await expect(executeWorkflow(admin, { workflow_id: id })).resolves.toMatchObject({ status: "pending" });
});

test("a file with more than 10,000 keys in a node is refused", async () => {
  const graph = readers("x");
  graph.nodes.push(node("big", "outputNode", Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`k${index}`, 1]))));

  const error = await refusal(importWorkflow(await database.newAdmin(), ImportWorkflowInput.parse({ file: { name: "Big", ...graph } })));

  expect(error).toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "file.nodes.2" }] });
});

test("a stored label that is reserved can be saved again", async () => {
  const admin = await database.newAdmin();
  const graph = readers("x");
  const { id: workflow_id } = await createWorkflow(admin, { name: "Old", ...graph });
  const labelled = { ...graph, nodes: [node("t", "triggerNode"), node("o", "outputNode", { label: "execution" })] };
  await expect(updateWorkflow(admin, { workflow_id, ...labelled })).rejects.toThrow('"execution" is reserved');
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  await db().workflowSnapshot.update({ where: { id: snapshot_id }, data: { graph: JSON.parse(JSON.stringify(labelled)) } });

  const { problems } = await updateWorkflow(admin, { workflow_id, ...labelled });

  expect(problems).toMatchObject([{ node_id: "o", field: "label", severity: "warning" }]);
});

test("an agent cannot take a reserved name", async () => {
  const admin = await database.newAdmin();

  const error = await refusal(createAgent(admin, { name: "trigger", llm_key_id: admin.project.id, model: "m" }));

  expect(error).toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "name" }] });
});
