import { beforeEach, expect, test } from "vitest";
import { createAgent } from "#server/features/agents/service.ts";
import { compareExecutions } from "#server/features/executions/compare.ts";
import { forkExecution } from "#server/features/executions/fork-execution.ts";
import { ForkInput } from "#server/features/executions/schema.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Graph } from "#server/workflow/schema.ts";

const database = testDatabase();
const models = testModelServer();
let admin: ProjectPrincipal;
let graph: Graph;
let asked: string[];

const services = () =>
  storedServices({
    callAgent: async ({ message }) => {
      asked.push(message);
      return { output: `Answer to ${message}` };
    },
  });
const carry = (id: string) => claimAndExecute(services(), id, 60);

beforeEach(async () => {
  admin = await database.newAdmin();
  collectEvents();
  asked = [];
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const { id: agent_id } = await createAgent(admin, { name: "Any", model: "echo", llm_key_id });
  graph = graphOf({
    nodes: {
      Start: ["triggerNode"],
      First: ["agentNode", { agent_id, input: "one {{trigger.output}}", retries: 0 }],
      Second: ["agentNode", { agent_id, input: "two {{First.output}}", retries: 0 }],
      Out: ["outputNode", { value: "{{Second.output}}" }],
    },
    edges: ["Start>First", "First>Second", "Second>Out"],
  });
});

async function ended(): Promise<string> {
  const id = await startStoredRun(admin, graph, "tea");
  await carry(id);
  asked = [];
  return id;
}
const changed = (label: string, data: Record<string, unknown>): Graph["nodes"] =>
  graph.nodes.map((node) => (node.id === label ? { ...node, data: { ...node.data, ...data } } : node));
const fork = (execution_id: string, input: Record<string, unknown> = {}, who = admin) =>
  forkExecution(who, ForkInput.parse({ execution_id, ...input }));

test("a fork takes over what comes before the first change, does the rest with it, and leaves the workflow as it is", async () => {
  const original = await ended();
  const { execution_id, forked_from } = await fork(original, { nodes: changed("Second", { input: "three {{First.output}}" }) });
  expect(forked_from).toBe(original);
  await carry(execution_id);
  expect(asked).toEqual(["three Answer to one tea"]);
  const run = await getExecution(admin, { execution_id });
  expect(run).toMatchObject({
    status: "completed",
    trigger: "fork",
    rerun_of: original,
    version: null,
    output: "Answer to three Answer to one tea",
  });
  expect(run.node_results).toMatchObject({ First: { reused: true }, Second: { reused: false }, Out: { reused: false } });
  expect(await db().workflowVersion.count({ where: { workflow_id: run.workflow_id } })).toBe(1);
  expect(await db().auditEntry.count({ where: { project_id: admin.project.id, action: "execution.fork" } })).toBe(1);

  const { nodes, edges_changed, totals } = await compareExecutions(admin, { execution_id: original, other_id: execution_id });
  expect(edges_changed).toBe(0);
  expect([totals.a.id, totals.b.id, totals.b.trigger]).toEqual([original, execution_id, "fork"]);
  expect(nodes.map(({ node_id, same, changed }) => [node_id, same, changed])).toEqual([
    ["Start", true, []],
    ["First", true, []],
    ["Second", false, [{ field: "input", a: "two {{First.output}}", b: "three {{First.output}}" }]],
    ["Out", false, []],
  ]);
  expect(nodes[2]).toMatchObject({
    label: "Second",
    a: { status: "complete", output: "Answer to two Answer to one tea" },
    b: { reused: false },
  });
});

test("another input runs everything, or what is named; nothing changed is the same run again", async () => {
  const original = await ended();
  const carried = async (input: Record<string, unknown>) => {
    asked = [];
    const { execution_id } = await fork(original, input);
    await carry(execution_id);
    return [asked, await getExecution(admin, { execution_id }).then(({ input, version }) => [input, version])];
  };
  expect(await carried({ input: "milk" })).toEqual([
    ["one milk", "two Answer to one milk"],
    ["milk", 1],
  ]);
  expect(await carried({ from_node_id: "Second" })).toEqual([["two Answer to one tea"], ["tea", 1]]);
  expect(await carried({ nodes: graph.nodes, edges: graph.edges })).toEqual([
    ["one tea", "two Answer to one tea"],
    ["tea", 1],
  ]);
  // A pin that the original passed over is no change, and does not count.
  expect(await carried({ nodes: changed("First", { pinned: { output: "pinned" } }), from_node_id: "First" })).toEqual([
    ["one tea", "two Answer to one tea"],
    ["tea", 1],
  ]);
});

test("a fork is refused as a save or a rerun would be, and never touches another project", async () => {
  const original = await ended();
  const other = await database.newAdmin();
  await expect(fork(original, {}, other)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(compareExecutions(other, { execution_id: original, other_id: original })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(compareExecutions(admin, { execution_id: original, other_id: crypto.randomUUID() })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  await expect(fork(original, { nodes: [...graph.nodes, graph.nodes[1]] })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(fork(original, { nodes: changed("First", { agent_id: crypto.randomUUID() }) })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
  await expect(fork(original, { from_node_id: "Nobody" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  const running = await startStoredRun(admin, graph);
  await expect(fork(running)).rejects.toMatchObject({ code: "CONFLICT" });
  await cancelExecution(admin, { execution_id: running });
  const { execution_id } = await fork(running, { input: "late" });
  await carry(execution_id);
  expect(asked).toEqual(["one late", "two Answer to one late"]);
});
