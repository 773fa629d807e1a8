import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { NodeRun, pageOf } from "#app/docs/nodes/node-example.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { startWorker } from "#server/boot/worker.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { importWorkflow } from "#server/features/workflow-files/import.ts";
import { WorkflowFile } from "#server/features/workflow-files/schema.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { answerApi } from "#server/http/api.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { messageOf } from "#server/platform/errors.ts";
import { setSettings } from "#server/platform/settings.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

// The examples and errors of the pages of nodes (app/docs/nodes), as the whole service carries them.

const database = testDatabase();
const models = testModelServer();
let admin: ProjectPrincipal;
beforeAll(async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "1", EXECUTIONS_PER_HOUR: "1000" });
  admin = await database.newAdmin();
  const stop = await startWorker();
  return () => stop(1000);
});

const types = Object.keys(nodeDefinitions) as (keyof typeof nodeDefinitions)[];
/** The service that HTTP nodes call on the pages. */
const EXAMPLE = "https://api.example.com";
const folder = join(import.meta.dirname, "../../app/docs/nodes");
const textOf = (type: (typeof types)[number], name: string) => readFileSync(join(folder, pageOf(type), name), "utf8");
const exampleOf = (type: (typeof types)[number]) => ({
  file: WorkflowFile.parse(JSON.parse(textOf(type, "example.json"))),
  ...NodeRun.parse(JSON.parse(textOf(type, "run.json"))),
});

type Given = Omit<NodeRun["run"], "output" | "outputs" | "error">;

/** The address of a server that does as it is said; it goes with the test. */
async function serverThat(answers: Given["server"]): Promise<string> {
  const server = createServer((_, response) => {
    if (typeof answers === "object")
      response.writeHead(answers.status, { "content-type": "application/json" }).end(JSON.stringify(answers.body));
  });
  const { url, stop } = await listen(server);
  if (answers === "gone") await stop();
  else onTestFinished(() => stop());
  return url;
}

/** Makes a workflow of an example's file, with agents whose model does as it is said. */
async function made({ nodes, ...file }: WorkflowFile, { answer, provider, server }: Given) {
  const id = randomUUID();
  models.script(id, [provider === undefined ? { say: answer ?? "" } : { as: `status-${provider}` }]);
  const key = { name: `Key ${id}`, provider: "openai_compatible" as const, api_key: "key-0123456789", base_url: models.url };
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const url = server === undefined ? EXAMPLE : await serverThat(server);
  const agents = file.requires.agents
    .filter((agent) => nodes.some(({ data }) => data.agent_id === agent.key))
    .map((agent) => ({ key: agent.key, action: "create" as const, llm_key_id, model: `script-${id}` }));
  const there = JSON.parse(JSON.stringify(nodes).replaceAll(EXAMPLE, url));
  const workflow = await importWorkflow(admin, { file: { ...file, nodes: there }, links: { agents, mcp_servers: [], rag_sources: [] } });
  /** A sentence as the page has it: with the names of the page in place of those of the test. */
  const shown = (text: string) =>
    text.replaceAll(new URL(url).host, "api.example.com").replaceAll(`script-${id}`, "gpt-4.1-mini").replaceAll(key.name, "Main");
  return { ...workflow, shown };
}

/** Runs a workflow to its end, while others do as it is said. */
async function run(workflow_id: string, { input = "", params, call, review }: Given) {
  const { execution_id } = await executeWorkflow(admin, { workflow_id, ...(params ? { params } : { input }) });
  const read = () => getExecution(admin, { execution_id });
  await until(async () => {
    const { status, node_results } = await read();
    if (review && status === "paused") await approveExecution(admin, { execution_id, ...review });
    const address = Object.values(node_results).find((result) => result.status === "waiting" && result.resume_url)?.resume_url;
    if (address) await answerApi(new Request(address, { method: "POST", body: JSON.stringify(call ?? {}) }));
    return isFinal(status);
  });
  return read();
}

test.each(types)("the page of %s has its name, its fields, its example and its errors", (type) => {
  const page = textOf(type, "page.mdx");
  const { title } = nodeDefinitions[type];
  expect(page).toMatch(new RegExp(`^export const metadata = \\{ title: "${title}" \\};\\n\\n# ${title}\\n`));
  const { file, errors } = exampleOf(type);
  for (const part of ["NodeFields", "NodeExample", ...(errors.length ? ["NodeErrors"] : [])])
    expect(page).toContain(`<${part} type="${type}" />`);
  expect(file.nodes.some((node) => node.type === type)).toBe(true);
  for (const { data = {} } of errors)
    expect(Object.keys(nodeDefinitions[type].config.shape)).toEqual(expect.arrayContaining(Object.keys(data)));
});

test.each(types)("the example of %s runs as its page says", async (type) => {
  const { file, run: told } = exampleOf(type);
  const workflow = await made(file, told);
  expect(workflow.problems).toEqual([]);
  const { output, outputs, error } = await run(workflow.id, told);
  if (told.output !== undefined || told.error !== undefined)
    expect({ output: output ?? undefined, error: error ?? undefined }).toEqual({ output: told.output, error: told.error });
  expect(Object.fromEntries(outputs.map(({ label, value }) => [label, value]))).toMatchObject(told.outputs ?? {});
});

const errors = types.flatMap((type) => exampleOf(type).errors.map((error) => [pageOf(type), error.when, { ...error, type }] as const));

test.each(errors)("%s: %s", async (_, __, { type, data, without = [], error: expected, when: _when, ...given }) => {
  const example = exampleOf(type);
  const { file } = example;
  const { handles } = nodeDefinitions[type];
  const nodes = file.nodes
    .filter(({ id }) => !without.includes(id))
    .map((node) => (node.type === type ? { ...node, data: { ...node.data, ...data } } : node));
  const changed = nodes.find((node) => node.type === type) as GraphNode;
  // What its data has otherwise may take a way out from it.
  const ways = typeof handles === "function" ? handles(changed.data) : handles;
  const edges = file.edges.filter(
    ({ source, target, sourceHandle }) =>
      !without.includes(target) && (source !== changed.id || !sourceHandle || (ways as readonly string[] | null)?.includes(sourceHandle)),
  );
  const told = { ...example.run, answer: undefined, server: undefined, ...given };
  const outcome = async (): Promise<string> => {
    const { id, problems, shown } = await made({ ...file, nodes, edges }, told);
    const problem = problems.find(({ severity }) => severity === "error");
    if (problem) return problem.message;
    const { error } = await run(id, told);
    return shown(error ?? "It did not fail.");
  };
  const said = await outcome().catch(messageOf);
  // A refusal and the end of a run name the node first.
  expect(said.replace(/^.*?Node "[^"]*" \([^)]*\): /, "").replace(`${labelOf(changed)}: `, "")).toBe(expected);
});
