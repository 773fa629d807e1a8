import { expect, test } from "#e2e/fixtures.ts";
import { UpdatedWorkflow, Workflow, WorkflowPage } from "#server/features/workflows/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const position = { x: 0, y: 0 };
const trigger = { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } };
const output = (id: string, data = {}) => ({ id, type: "outputNode", position, data: { label: id, ...data } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

test("a workflow without nodes starts with one manual trigger", async ({ api }) => {
  const { body } = await api.post("/workflows", { name: "Fresh" }, { schema: Workflow, status: 201 });
  expect(body.nodes).toMatchObject([{ type: "triggerNode", data: { kind: "manual" } }]);
  expect(body).toMatchObject({ version: 1, enabled: true, schedule: null, problems: [], trigger: "manual" });
});

test("a graph comes back as it was given, keys of React Flow included", async ({ api }) => {
  const nodes = [trigger, { ...output("o"), width: 250, style: { opacity: 1 } }];
  const edges = [{ ...edge("t", "o"), animated: true, sourceHandle: null }];
  const { body } = await api.post("/workflows", { name: "Kept", nodes, edges }, { schema: Workflow, status: 201 });
  const { body: read } = await api.get(`/workflows/${body.id}`, { schema: Workflow });
  expect(read.nodes).toEqual(nodes);
  expect(read.edges).toEqual(edges);
});

// Keys that mean something to JavaScript, or to the library that writes to the database.
for (const text of [
  '{"__proto__":null}',
  '{"__proto__":{"a":1}}',
  '{"$type":""}',
  '{"$type":"DbNull"}',
  '{"__prismaRawParameters__":true}',
])
  test(`what a graph holds comes back whatever its keys are called: ${text}`, async ({ api }) => {
    const held = { a: JSON.parse(text) };
    const nodes = [trigger, { ...output("o", { held }), style: held }];
    const ofNode = ({ data, style }: { data: { held: unknown }; style: unknown }) => JSON.stringify([data.held, style]);
    const { body: made } = await api.post("/workflows", { name: "Kept", nodes }, { status: 201 });
    const { body: saved } = await api.put(`/workflows/${made.id}`, { nodes: [...nodes, output("p")] }, { status: 200 });
    const { body: version } = await api.get(`/workflows/${made.id}/versions/2`, { status: 200 });
    for (const graph of [made, saved, version]) expect(ofNode(graph.nodes[1])).toBe(JSON.stringify([held, held]));
  });

test("text that the database cannot keep is cleaned, not refused", async ({ api }) => {
  const nodes = [trigger, output("o", { value: "nul \u0000 and half \ud83d" })];
  const { body } = await api.post("/workflows", { name: "Odd", nodes, edges: [edge("t", "o")] }, { schema: Workflow, status: 201 });
  expect(body.nodes[1]?.data.value).toBe("nul  and half \ufffd");
});

test("lists come newest first, in pages", async ({ api }) => {
  for (const name of ["one", "two", "three"]) await api.post("/workflows", { name }, { status: 201 });
  const { body } = await api.get("/workflows?page=1&per_page=2", { schema: WorkflowPage });
  expect(body).toMatchObject({ total: 3, page: 1, per_page: 2 });
  expect(body.items.map((item) => item.name)).toEqual(["three", "two"]);
  await api.get("/workflows?per_page=201", { schema: ErrorBody, status: 422 });
  await api.get("/workflows?page=0", { schema: ErrorBody, status: 422 });
});

test("an edge that closes a cycle is refused with 422 that names the edge", async ({ api }) => {
  const nodes = [trigger, output("a"), output("b")];
  const edges = [edge("t", "a"), edge("a", "b"), edge("b", "a")];
  const { body } = await api.post("/workflows", { name: "Round", nodes, edges }, { schema: ErrorBody, status: 422 });
  expect(body.error_code).toBe("VALIDATION_ERROR");
  expect(body.errors).toEqual([{ path: "edges.2", message: expect.stringContaining('Edge "b-a" (b → a) closes a cycle') }]);
  const { body: list } = await api.get("/workflows", { schema: WorkflowPage });
  expect(list.total).toBe(0);
});

test("every structural fault is listed", async ({ api }) => {
  const nodes = [trigger, { ...trigger, id: "t2", data: { label: "Other" } }, { id: "x", type: "magicNode", position, data: {} }];
  const { body } = await api.post("/workflows", { name: "Bad", nodes, edges: [edge("t", "ghost")] }, { schema: ErrorBody, status: 422 });
  expect(body.errors?.map((error) => error.path)).toEqual(["nodes", "nodes.2.type", "edges.0"]);
});

test("edges without nodes are checked against the trigger that a workflow starts with", async ({ api }) => {
  const { body } = await api.post("/workflows", { name: "Loose", edges: [edge("t", "ghost")] }, { schema: ErrorBody, status: 422 });
  expect(body.errors).toEqual([{ path: "edges.0", message: expect.stringContaining("a node that is not in the workflow") }]);
  const { body: list } = await api.get("/workflows", { schema: WorkflowPage });
  expect(list.total).toBe(0);
});

test("a save that changes something counts the version up", async ({ api }) => {
  const { body: first } = await api.post("/workflows", { name: "Counted", description: "kept" }, { schema: Workflow, status: 201 });
  const { body: second } = await api.put(`/workflows/${first.id}`, { name: "Renamed" }, { schema: UpdatedWorkflow });
  expect(second).toMatchObject({ version: 2, name: "Renamed", description: "kept" });
  const { body: third } = await api.put(`/workflows/${first.id}`, second, { schema: UpdatedWorkflow });
  expect(third.version).toBe(2);
  await api.put(`/workflows/${first.id}`, { nmae: "typo" }, { schema: ErrorBody, status: 422 });
});

test("an old version is refused with 409 that names who saved, and loses nothing", async ({ api }) => {
  const { body: first } = await api.post("/workflows", { name: "Shared" }, { schema: Workflow, status: 201 });
  await api.put(`/workflows/${first.id}`, { name: "By the other tab", version: 1 }, { schema: UpdatedWorkflow });
  const { body } = await api.put(`/workflows/${first.id}`, { name: "Mine", version: 1 }, { schema: ErrorBody, status: 409 });
  expect(body.detail).toMatch(/saved version 2 at \d{4}-.*you edited version 1/);
  const { body: now } = await api.get(`/workflows/${first.id}`, { schema: Workflow });
  expect(now).toMatchObject({ name: "By the other tab", version: 2 });
});

test("two saves of one version at once: one wins, the other is told", async ({ api }) => {
  const { body: first } = await api.post("/workflows", { name: "Raced" }, { schema: Workflow, status: 201 });
  const save = (name: string) => api.put(`/workflows/${first.id}`, { name, version: 1 });
  const statuses = (await Promise.all(["a", "b", "c"].map(save))).map((answer) => answer.status);
  expect(statuses.sort()).toEqual([200, 409, 409]);
});

test("what is not filled in yet is saved, reported as problems, and refused when a run starts", async ({ api }) => {
  const nodes = [trigger, { id: "a", type: "agentNode", position, data: { label: "Research", input: "{{Strat.output}}" } }];
  const { body } = await api.post("/workflows", { name: "Draft", nodes, edges: [edge("t", "a")] }, { schema: Workflow, status: 201 });
  expect(body.problems).toEqual([
    { node_id: "a", field: "agent_id", severity: "error", message: "Choose an agent." },
    { node_id: "a", field: "input", severity: "error", message: expect.stringContaining('Did you mean "Start"?') },
  ]);
  const { body: refused } = await api.post(`/workflows/${body.id}/execute`, {}, { schema: ErrorBody, status: 422 });
  expect(refused.errors?.map((error) => error.path)).toEqual(["a.agent_id", "a.input"]);
});

test("a deleted workflow is gone, its executions stay readable", async ({ api }) => {
  const { body } = await api.post("/workflows", { name: "Short-lived", nodes: [trigger], edges: [] }, { schema: Workflow, status: 201 });
  const { body: run } = await api.post(`/workflows/${body.id}/execute`, { input: "x" }, { status: 202 });
  await api.del(`/workflows/${body.id}`, { status: 204 });
  await api.get(`/workflows/${body.id}`, { status: 404 });
  await api.post(`/workflows/${body.id}/execute`, {}, { status: 404 });
  await api.get(`/executions/${run.execution_id}`, { status: 200 });
});

test("another project's workflow, a malformed id and an unknown id are the same 404", async ({ api, newProject }) => {
  const { body } = await api.post("/workflows", { name: "Mine" }, { schema: Workflow, status: 201 });
  const other = await newProject();
  const answers = await Promise.all([
    other.api.get(`/workflows/${body.id}`, { schema: ErrorBody, status: 404 }),
    api.get("/workflows/019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", { schema: ErrorBody, status: 404 }),
    api.get("/workflows/not-an-id", { schema: ErrorBody, status: 404 }),
  ]);
  for (const answer of answers) expect(answer.body).toEqual(answers[0]?.body);
});
