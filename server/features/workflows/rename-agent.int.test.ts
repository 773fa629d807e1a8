import { beforeAll, beforeEach, expect, test } from "vitest";
import { updateAgent } from "#server/features/agents/service.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { getVersion, listVersions } from "#server/features/workflows/versions.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { seal } from "#server/platform/secrets.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Graph } from "#server/workflow/schema.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let agent_id: string;
let llm_key_id: string;
let count = 0;

beforeAll(async () => {
  admin = await database.newAdmin();
  const key = await db().llmKey.create({
    data: { project_id: admin.project.id, name: "Key", provider: "openai", sealed_key: seal("key"), masked_key: "x" },
  });
  llm_key_id = key.id;
});

/** An agent called `Scout <n>`, whose old and new names are of the test's own. */
let [old, fresh] = ["", ""];
beforeEach(async () => {
  [old, fresh] = [`Scout ${++count}`, `Writer ${count}`];
  agent_id = (await db().agent.create({ data: { project_id: admin.project.id, name: old, model: "m", llm_key_id } })).id;
});

const reading = (name: string, condition = `node_outputs["${name}"] != ""`): Graph =>
  graphOf({
    nodes: {
      t: ["triggerNode"],
      a: ["agentNode", { label: "Ask", agent_id, input: "hello" }],
      b: ["branchNode", { condition }],
      o: ["outputNode", { value: `{{${name}.output}}` }],
    },
    edges: ["t>a", "a>b", "b.true>o"],
  });
const newReader = (graph = reading(old)) => createWorkflow(admin, { name: `Reader ${count}`, ...graph });
const rename = () => updateAgent(admin, { agent_id, name: fresh });
const textOf = ({ nodes }: Pick<Graph, "nodes">) => JSON.stringify(nodes.map(({ data }) => data));

async function play(started: Promise<{ execution_id: string }>) {
  const { execution_id } = await started;
  const agentNames = async () => new Map((await db().agent.findMany()).map(({ id, name }) => [id, name]));
  await claimAndExecute(storedServices({ callAgent: async ({ message }) => ({ output: `<${message}>` }), agentNames }), execution_id, 60);
  return getExecution(admin, { execution_id });
}

test("a rename of an agent saves a new version of every reader", async () => {
  const { id: workflow_id, name } = await newReader();

  const answer = await rename();

  expect(answer).toMatchObject({ name: fresh, workflows_changed: { items: [{ id: workflow_id, name }], total: 1 } });
  const { workflow, draft, is_draft_ahead } = await getEditorState(admin, { workflow_id });
  expect(workflow).toMatchObject({ ...reading(fresh), version: 2, problems: [] });
  expect(draft).toMatchObject({ ...reading(fresh), base_version: 2, revision: 2, problems: [] });
  expect(is_draft_ahead).toBe(false);
  expect((await listVersions(admin, { workflow_id, page: 1, per_page: 50 })).items.map(({ by }) => by)).toEqual(["rename", null]);
});

test("a draft that is ahead keeps its own changes when the agent is renamed", async () => {
  const { id: workflow_id } = await newReader();
  const ahead = reading(old, "True");
  await saveDraft(admin, { workflow_id, ...ahead, revision: 1 });

  await rename();

  expect((await getEditorState(admin, { workflow_id })).draft).toMatchObject(reading(fresh, "True"));
});

test("a workflow that does not read the agent's name gets no version", async () => {
  const { id: workflow_id } = await newReader(graphOf({ nodes: { t: ["triggerNode"], a: ["agentNode", { agent_id }] }, edges: ["t>a"] }));

  expect((await rename()).workflows_changed).toEqual({ items: [], total: 0 });

  expect((await getWorkflow(admin, { workflow_id })).version).toBe(1);
});

test("a rename is refused with every text that cannot follow", async () => {
  const { id: workflow_id } = await newReader(reading(old, `any(k != "" for k in node_outputs)`));

  await expect(rename()).rejects.toMatchObject({ code: "CONFLICT", errors: [{ path: `workflows.${workflow_id}.b.condition` }] });

  expect((await db().agent.findUniqueOrThrow({ where: { id: agent_id } })).name).toBe(old);
  expect((await getWorkflow(admin, { workflow_id })).version).toBe(1);
});

test("a save without a version after the rename does not bring the old name back", async () => {
  const { id: workflow_id } = await newReader();
  await rename();

  const saved = await updateWorkflow(admin, { workflow_id, ...reading(old, "True") });

  expect(saved).toMatchObject({ ...reading(fresh, "True"), problems: [] });
});

test("saves that race a rename leave no text with the old name", async () => {
  const made = await Promise.all(Array.from({ length: 4 }, () => newReader()));

  await Promise.all([
    ...made.map(({ id: workflow_id }) => updateWorkflow(admin, { workflow_id, ...reading(old, "True") })),
    rename(),
    newReader(),
  ]);

  const saved = await db().workflow.findMany({
    where: { project_id: admin.project.id, name: `Reader ${count}` },
    include: { draft: true },
  });
  expect(saved).toHaveLength(5);
  for (const { id: workflow_id, draft } of saved) {
    const workflow = await getWorkflow(admin, { workflow_id });
    expect(`${textOf(workflow)}${JSON.stringify(draft?.graph)}`).not.toContain(old);
    expect(workflow.problems).toEqual([]);
  }
});

test("an editor that read the draft before the rename saves without a conflict", async () => {
  const { id: workflow_id } = await newReader();
  await rename();

  const draft = await saveDraft(admin, { workflow_id, ...reading(old, `len(node_outputs["${old}"]) > 1`), revision: 1 });

  expect(draft).toMatchObject({ ...reading(fresh, `len(node_outputs["${fresh}"]) > 1`), revision: 3 });
});

test("a draft that someone else wrote besides the rename stays a conflict", async () => {
  const { id: workflow_id } = await newReader();
  await rename();
  await saveDraft(admin, { workflow_id, ...reading(fresh, "True"), revision: 2 });

  await expect(saveDraft(admin, { workflow_id, ...reading(old), revision: 1 })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("the version before a rename can be published upon", async () => {
  const { id: workflow_id } = await newReader();
  await rename();
  await updateAgent(admin, { agent_id, name: `${fresh} again` });

  const saved = await updateWorkflow(admin, { workflow_id, ...reading(old, "True"), version: 1 });

  expect(saved).toMatchObject({ ...reading(`${fresh} again`, "True"), version: 4 });
});

test("a run created before a rename reads the agent by its name of then", async () => {
  const { id: workflow_id } = await newReader();
  const started = await executeWorkflow(admin, { workflow_id });
  await rename();
  // Nothing tells the two agents apart but when the run was created.
  await db().agent.create({ data: { project_id: admin.project.id, name: old, model: "m", llm_key_id } });

  const run = await play(Promise.resolve(started));

  expect(run).toMatchObject({ status: "completed", output: "<hello>" });
});

test("a run from before a rename can be run again", async () => {
  const { id: workflow_id } = await newReader();
  const { id: execution_id } = await play(executeWorkflow(admin, { workflow_id }));
  await rename();

  const again = await play(rerunExecution(admin, { execution_id, use_current: false }));

  expect(again).toMatchObject({ status: "completed", output: "<hello>", version: 1 });
});

test("an earlier version is read under the agent's current name", async () => {
  const { id: workflow_id } = await newReader();
  await rename();

  expect(await getVersion(admin, { workflow_id, version: 1 })).toMatchObject(reading(fresh));
});
