import { expect, test } from "#e2e/fixtures.ts";
import {
  UpdatedWorkflow,
  Workflow,
  WorkflowVersion,
  WorkflowVersionPage,
  WorkflowVersionSummary,
} from "#server/features/workflows/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const position = { x: 0, y: 0 };
const trigger = { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } };
const output = (id: string, value: string) => ({ id, type: "outputNode", position, data: { label: id, value } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });

test("each save is a version with who, when and how much it changed, and its graph can be read and put back", async ({
  api,
  person,
  newUser,
}) => {
  const first = { nodes: [trigger, output("a", "one"), output("b", "two")], edges: [edge("t", "a"), edge("t", "b")] };
  const { body: made } = await api.post("/workflows", { name: "Grown", ...first }, { schema: Workflow, status: 201 });
  const path = `/workflows/${made.id}`;
  const editor = await newUser({ role: "editor" });
  const second = { nodes: [trigger, output("a", "changed"), output("c", "three")], edges: [edge("t", "a"), edge("t", "c")] };
  await editor.api.put(path, { ...second, note: "  Two instead of one " }, { schema: UpdatedWorkflow });
  await editor.api.put(path, { note: "x".repeat(1001) }, { schema: ErrorBody, status: 422 });
  await api.put(path, { name: "Renamed" }, { schema: UpdatedWorkflow });

  const { body: list } = await api.get(`${path}/versions?per_page=2`, { schema: WorkflowVersionPage });
  expect(list).toMatchObject({ total: 3, page: 1, per_page: 2 });
  const none = { nodes_added: 0, nodes_changed: 0, nodes_removed: 0, edges_changed: 0 };
  expect(list.items).toMatchObject([
    { version: 3, is_current: true, name: null, note: null, saved_by: { id: person.id, name: "Robin Weaver" }, changes: none },
    {
      version: 2,
      is_current: false,
      note: "Two instead of one",
      saved_by: { id: editor.id },
      changes: { nodes_added: 1, nodes_changed: 1, nodes_removed: 1, edges_changed: 2 },
    },
  ]);
  const { body: rest } = await api.get(`${path}/versions?per_page=2&page=2`, { schema: WorkflowVersionPage });
  expect(rest.items).toMatchObject([{ version: 1, changes: null }]);

  const { body: old } = await api.get(`${path}/versions/1`, { schema: WorkflowVersion });
  expect({ nodes: old.nodes, edges: old.edges }).toEqual(first);
  expect((await api.get(`${path}/versions/2`, { schema: WorkflowVersion })).body.note).toBe("Two instead of one");
  const { body: restored } = await api.put(path, { nodes: old.nodes, edges: old.edges }, { schema: UpdatedWorkflow });
  expect(restored).toMatchObject({ version: 4, nodes: first.nodes });
});

test("a version is named, what a GET gave is taken back, and null or nothing takes the name away", async ({ api, newUser }) => {
  const { body: made } = await api.post("/workflows", { name: "Named" }, { schema: Workflow, status: 201 });
  const path = `/workflows/${made.id}/versions/1`;
  const name = async (wanted: string | null) => (await api.put(path, { name: wanted }, { schema: WorkflowVersionSummary })).body.name;
  expect(await name("  Before the rewrite ")).toBe("Before the rewrite");
  const { body: read } = await api.get(path, { schema: WorkflowVersion });
  const { body: again } = await api.put(path, read, { schema: WorkflowVersionSummary });
  expect(again).toMatchObject({ version: 1, name: "Before the rewrite" });
  expect(await name("")).toBeNull();
  expect(await name("Back")).toBe("Back");
  expect(await name(null)).toBeNull();

  await api.put(path, { name: "x".repeat(121) }, { schema: ErrorBody, status: 422 });
  await api.put(path, {}, { schema: ErrorBody, status: 422 });
  const viewer = await newUser({ role: "viewer" });
  await viewer.api.put(path, { name: "Mine" }, { schema: ErrorBody, status: 403 });
  expect((await viewer.api.get(path, { schema: WorkflowVersion })).body.name).toBeNull();
});

test("a version that there is not is 404, and what is no number 422", async ({ api, newProject }) => {
  const { body: made } = await api.post("/workflows", { name: "Short" }, { schema: Workflow, status: 201 });
  const path = `/workflows/${made.id}/versions`;
  expect((await api.get(`${path}/2`, { schema: ErrorBody, status: 404 })).body.detail).toContain("no version 2");
  await api.put(`${path}/2`, { name: "Ghost" }, { schema: ErrorBody, status: 404 });
  for (const wrong of ["0", "two", "1.5", "99999999999"]) await api.get(`${path}/${wrong}`, { schema: ErrorBody, status: 422 });
  const other = await newProject();
  for (const address of [path, `${path}/1`]) await other.api.get(address, { schema: ErrorBody, status: 404 });
  await other.api.put(`${path}/1`, { name: "Taken" }, { schema: ErrorBody, status: 404 });
});
