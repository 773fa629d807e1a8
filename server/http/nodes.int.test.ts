import { createServer, type ServerResponse } from "node:http";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { startWorker } from "#server/boot/worker.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import { answerApi } from "#server/http/api.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution, getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { newWorkflow } from "#server/testing/new-workflow.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Nodes that reach out, wait and compose, as the whole service carries them.

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "1" });
  admin = await database.newAdmin();
  const stop = await startWorker();
  return () => stop(1000);
});

const start = async (workflow_id: string, input = "tea") => (await executeWorkflow(admin, { workflow_id, input })).execution_id;
const read = (execution_id: string) => getExecution(admin, { execution_id });
async function finished(id: string) {
  await until(async () => isFinal((await read(id)).status));
  return read(id);
}
/** The address at which a run's node waits, once it does. */
async function addressOf(id: string, node: string): Promise<string> {
  const look = async () => (await read(id)).node_results[node]?.resume_url;
  await until(async () => (await look()) !== undefined);
  return (await look()) ?? "";
}
const post = async (url: string, body: string) => (await answerApi(new Request(url, { method: "POST", body }))).status;

test("a call, code, a set, a switch, a wait for a call and another workflow work together in one run", async () => {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(`${request.method} ${request.url} ${request.headers["idempotency-key"]}`);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ scores: [3, 9, 6] }));
  });
  const { url, stop } = await listen(server);
  onTestFinished(() => stop());
  const workflow_id = await newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode", { value: "Best: {{trigger.output | upper}}" }] }, [
    "t>o",
  ]);
  const best = "print('asked')\nmax(json.loads(text)['scores'])";
  const flow = await newWorkflow(
    admin,
    {
      t: ["triggerNode"],
      Fetch: ["httpNode", { url: `${url}/scores`, query: [{ name: "of", value: "{{trigger.output}}" }] }],
      Best: ["codeNode", { code: best, inputs: [{ name: "text", value: "{{Fetch.output}}" }], timeout: 10 }],
      Row: ["setNode", { fields: [{ name: "best", value: "{{Best.output}}", type: "number" }] }],
      How: ["switchNode", { cases: [{ id: "high", label: "High", condition: "json.loads(output)['best'] > 5" }] }],
      Ask: ["waitNode", { mode: "callback" }],
      Greet: ["workflowNode", { workflow_id, input: "{{Ask.output.name}}" }],
      End: ["outputNode", { value: "{{Greet.output}} ({{How.output}}, {{Fetch.status}})" }],
      Low: ["outputNode"],
    },
    ["t>Fetch", "Fetch>Best", "Best>Row", "Row>How", "How.case:high>Ask", "How.default>Low", "Ask.done>Greet", "Greet>End"],
  );
  const id = await start(flow);
  const address = await addressOf(id, "Ask");
  expect(await read(id)).toMatchObject({ status: "running", node_results: { Ask: { status: "waiting" }, Low: { status: "skipped" } } });
  expect([await post(address, '{"name": "Ada"}'), await post(address, "{}")]).toEqual([200, 409]);
  const run = await finished(id);
  expect(run).toMatchObject({ status: "completed", output: "Best: ADA (High, 200)" });
  expect(sent).toEqual([`GET /scores?of=tea ${id}:Fetch:`]);
  expect(await read(run.node_results.Greet?.child_execution_id ?? "")).toMatchObject({
    ...{ status: "completed", trigger: "workflow", parent: { execution_id: id, node_id: "Greet" }, output: "Best: ADA" },
  });
  const { items } = await getExecutionLogs(admin, { execution_id: id });
  expect(items.find(({ node_id }) => node_id === "Best")).toMatchObject({ output: "9", printed: "asked\n" });
  expect(items.find(({ node_id }) => node_id === "Fetch")?.response).toMatchObject({
    ...{ status: 200, headers: { "content-type": "application/json" } },
  });
  expect(items.filter(({ response }) => response)).toHaveLength(1);
  const child = items.find(({ node_id }) => node_id === "Greet")?.child_execution_id ?? "";
  expect((await getExecutionView(admin, { execution_id: child })).origin).toMatchObject({
    execution_id: id,
    node: { id: "Greet", label: "Greet" },
  });
  expect((await getExecutionView(admin, { execution_id: id })).origin).toBeNull();
});

test("a wait for a time ends by the clock, a failure starts the error workflow, and a cancellation goes down", async () => {
  const error_workflow_id = await newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode", { value: "{{trigger.output.error}}" }] }, [
    "t>o",
  ]);
  const flow = await newWorkflow(
    admin,
    {
      t: ["triggerNode"],
      w: ["waitNode", { mode: "for", seconds: 1 }],
      x: ["terminateNode", { status: "failed", message: "No {{trigger.output}}" }],
    },
    ["t>w", "w.done>x"],
    { error_workflow_id },
  );
  expect(await finished(await start(flow))).toMatchObject({ status: "failed", error: "No tea" });
  const told = () => db().execution.findFirst({ where: { workflow_id: error_workflow_id } });
  await until(async () => (await told()) !== null);
  const error_run = await finished((await told())?.id ?? "");
  expect(error_run).toMatchObject({ status: "completed", trigger: "error", output: "No tea" });
  const { origin } = await getExecutionView(admin, { execution_id: error_run.id });
  // An end that was meant is no failure of a node.
  expect(origin).toMatchObject({ node: null });
  expect(await read(origin?.execution_id ?? "")).toMatchObject({ workflow_id: flow, status: "failed" });
  const waiting = await newWorkflow(admin, { t: ["triggerNode"], w: ["waitNode", { mode: "callback" }], o: ["outputNode"] }, [
    "t>w",
    "w.done>o",
  ]);
  const parent = await start(
    await newWorkflow(admin, { t: ["triggerNode"], s: ["workflowNode", { workflow_id: waiting }], o: ["outputNode"] }, ["t>s", "s>o"]),
  );
  await until(async () => (await read(parent)).node_results.s?.child_execution_id !== undefined);
  const child = (await read(parent)).node_results.s?.child_execution_id ?? "";
  await until(async () => (await db().execution.count({ where: { id: child } })) > 0);
  const address = await addressOf(child, "w");
  await cancelExecution(admin, { execution_id: parent });
  expect((await read(child)).status).toBe("cancelled");
  expect(await post(address, "{}")).toBe(409);
});

/** A server that answers as it is told, and how often it was asked. */
async function serve(answer: (response: ServerResponse) => void) {
  const seen = { calls: 0 };
  const server = createServer((_, response) => {
    seen.calls++;
    answer(response);
  });
  const { url, stop } = await listen(server);
  onTestFinished(() => stop());
  return { url, seen };
}

test("from whichever node it is run again, what came before is taken over, and calls and runs are made for the rest only", async () => {
  const { url, seen } = await serve((response) => response.end('{"n": 7}'));
  const workflow_id = await newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode", { value: "got {{trigger.output}}" }] }, ["t>o"]);
  const flow = await newWorkflow(
    admin,
    {
      t: ["triggerNode"],
      Fetch: ["httpNode", { url, headers: [{ name: "X-Of", value: "{{trigger.output}}" }] }],
      Twice: ["codeNode", { code: "int(n) * 2", inputs: [{ name: "n", value: "{{Fetch.output.n}}" }], timeout: 10 }],
      Way: ["switchNode", { cases: [{ id: "big", label: "Big", condition: "int(output) > 10" }] }],
      Pause: ["waitNode", { mode: "until", until: "1767225600" }],
      Moment: ["waitNode", { mode: "for", seconds: 1 }],
      Sub: ["workflowNode", { workflow_id }],
      o: ["outputNode", { value: "{{Sub.output}} {{Way.output}} {{Fetch.status}}" }],
    },
    ["t>Fetch", "Fetch>Twice", "Twice>Way", "Way.case:big>Pause", "Pause.done>Moment", "Moment.done>Sub", "Sub>o"],
  );
  const first = await finished(await start(flow));
  expect(first).toMatchObject({ status: "completed", output: "got 14 Big 200" });
  const ids = ["Fetch", "Twice", "Way", "Pause", "Moment", "Sub", "o"];
  const again = await Promise.all(
    ids.map(async (from_node_id) => {
      const { execution_id } = await rerunExecution(admin, { execution_id: first.id, from_node_id, use_current: false });
      return finished(execution_id);
    }),
  );
  expect(again.map(({ output }) => output)).toEqual(ids.map(() => first.output));
  expect(seen.calls).toBe(2);
  const before = first.node_results.Sub?.child_execution_id;
  const children = again.map(({ node_results }) => node_results.Sub?.child_execution_id);
  expect(new Set(children).size).toBe(ids.length);
  expect(children.at(-1)).toBe(before);
});

test("pinned, they call nothing, wait for nothing and start nothing; a test run goes as far as the one that is asked for", async () => {
  const { url, seen } = await serve((response) => response.end("real"));
  const workflow_id = await newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode"] }, ["t>o"]);
  const pinned = (output: string) => ({ pinned: { output } });
  const flow = await newWorkflow(
    admin,
    {
      t: ["triggerNode"],
      Fetch: ["httpNode", { url, ...pinned('{"n": 1}') }],
      Count: ["codeNode", { code: "1 / 0", ...pinned("5") }],
      Way: ["switchNode", { cases: [{ id: "a", label: "A", condition: "True" }], ...pinned("default") }],
      Call: ["waitNode", { mode: "callback", ...pinned("timed_out") }],
      Sub: ["workflowNode", { workflow_id, ...pinned("sub") }],
      Row: ["setNode", { fields: [{ name: "n", value: "{{Fetch.output.n}}{{Count.output}}", type: "number" }] }],
      Free: ["httpNode", { url }],
      o: ["outputNode", { value: "{{Row.output.n}} {{Sub.output}}" }],
      never: ["outputNode"],
    },
    [
      "t>Fetch",
      "Fetch>Count",
      "Count>Way",
      "Way.case:a>never",
      "Way.default>Call",
      "Call.done>never",
      "Call.timed_out>Sub",
      "Sub>Row",
      "Row>o",
      "o>Free",
    ],
  );
  const started = await runDraft(admin, { workflow_id: flow, until_node_id: "o" });
  const run = await finished(started.execution_id);
  expect(run).toMatchObject({
    status: "completed",
    output: "15 sub",
    node_results: { never: { status: "skipped" }, Free: { status: "skipped" } },
  });
  expect(seen.calls).toBe(0);
  expect(await db().execution.count({ where: { parent_id: run.id } })).toBe(0);
  const whole = await finished((await runDraft(admin, { workflow_id: flow })).execution_id);
  expect(whole).toMatchObject({ status: "completed", node_results: { Free: { output: "real" } } });
  expect(seen.calls).toBe(1);
});

test("cancelling breaks off a call and code that are under way, in a run that another one has started too", async () => {
  const closed = Promise.withResolvers<void>();
  const { url, seen } = await serve((response) => void response.on("close", closed.resolve));
  const busy = await newWorkflow(
    admin,
    {
      t: ["triggerNode"],
      Fetch: ["httpNode", { url, timeout: 300 }],
      Spin: ["codeNode", { code: "while True:\n  pass", timeout: 10 }],
      o: ["outputNode"],
    },
    ["t>Fetch", "t>Spin", "Fetch>o", "Spin>o"],
  );
  const id = await start(
    await newWorkflow(admin, { t: ["triggerNode"], s: ["workflowNode", { workflow_id: busy }], o: ["outputNode"] }, ["t>s", "s>o"]),
  );
  await until(() => seen.calls === 1);
  await cancelExecution(admin, { execution_id: id });
  await closed.promise;
  const child = await finished((await read(id)).node_results.s?.child_execution_id ?? "");
  expect(child).toMatchObject({ status: "cancelled", node_results: { Fetch: { status: "skipped" }, Spin: { status: "skipped" } } });
  expect((await read(id)).status).toBe("cancelled");
  expect(seen.calls).toBe(1);
});
