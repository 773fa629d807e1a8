import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { startWorker } from "#server/boot/worker.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { setupWebhook } from "#server/features/webhooks/service.ts";
import { exportWorkflow } from "#server/features/workflow-files/export.ts";
import { checkImport, importGraph, importWorkflow } from "#server/features/workflow-files/import.ts";
import { listTemplates } from "#server/features/workflow-files/list-templates.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow, deleteWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { answerApi } from "#server/http/api.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { overlapsIn } from "#server/workflow/layout/place.ts";
import type { Graph } from "#server/workflow/schema.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  const stop = await startWorker();
  return () => stop(1000);
});

const read = (execution_id: string) => getExecution(admin, { execution_id });
const post = (url: string, body: string) => answerApi(new Request(url, { method: "POST", body }));

/** Whatever a run waits for comes: a reviewer approves, and a service calls back. */
async function finished(execution_id: string) {
  await until(async () => {
    const run = await read(execution_id);
    if (run.status === "paused") await approveExecution(admin, { execution_id, decision: "approved", comment: "Fine by me" });
    const address = Object.values(run.node_results).find(({ status, resume_url }) => status === "waiting" && resume_url)?.resume_url;
    if (address) expect((await post(address, '{"method": "card"}')).status).toBe(200);
    return isFinal(run.status);
  });
  return read(execution_id);
}

const templateOf = (id: string) => {
  const found = listTemplates().items.find((template) => template.id === id);
  if (!found) throw new Error(`There is no template ${id}.`);
  return found;
};
const triggerOf = (id: string) => templateOf(id).file.nodes.find(({ type }) => type === "triggerNode")?.data ?? {};

/** Runs a template as a person would try it: with what the form and the note suggest, or with another input. */
async function tried(id: string, given: { input?: unknown; params?: Record<string, unknown> } = {}) {
  const workflow = await importWorkflow(admin, { file: templateOf(id).file, enabled: true });
  expect(workflow.problems).toEqual([]);
  const { kind, default_input = "" } = triggerOf(id);
  const input = given.input === undefined ? String(default_input) : JSON.stringify(given.input);
  const asked = kind === "params" ? { params: given.params ?? {} } : { input };
  const { execution_id } = await executeWorkflow(admin, { workflow_id: workflow.id, ...asked });
  return finished(execution_id);
}

/** What the templates that need no model put out, as they come. */
const outputs: Record<string, string | RegExp | object> = {
  "approval-desk": /^\*\*Approved by a manager:\*\* Standing desk, 640 €\n\nFine by me$/,
  "batch-letters": /Dear Ada,[\s\S]*Dear Grace,[\s\S]*Dear Mary,/,
  "failure-report":
    /^\*\*Nightly import failed at Fetch the list\*\*, and may work later.*\n\n> .*503: &lt;h1&gt;Down for .*\n\n\[Run it again\]\(http.*\)$/,
  "github-events": "[octo/loom#42](https://github.com/octo/loom/issues/42) Shuttle gets stuck &lt;again&gt; by octocat (bug, urgent)",
  "leave-request": "**Granted:** ADA LOVELACE, 5 days from Monday, 06 July 2026. Fine by me",
  "nightly-reminder": "**Backups checked.** Fine by me",
  "order-batch": { orders: 3, failed: 0, total: 220.5 },
  "payment-wait": {
    "Where to call": expect.stringMatching(/^http.*\/api\/v1\//),
    Paid: "Thank you, Ada. **129.5 €** came by card for order A-17 of 01 March 2026.",
  },
  "quote-api": { items: 2, country: "DE", discount_percent: 10, total: 297, shipping: "parcel", days: 3 },
  // The guide of an install that is not there: whoever calls an address gets an answer also when nobody answers.
  "site-check": /^\*\*(DOWN|Up)\.\*\*/,
  "slack-mentions": { channel: "C0LAN2Q65", text: "<@U024BE7LH> of order A-17 is on its way." },
  "stripe-payments": "**129.5 EUR** for order A-17 on 01 March 2026, receipt to ada@example.com",
  "table-to-json": { Yarn: { rows: 2, amount: 102.75, open: 0 }, Loom: { rows: 1, amount: 240, open: 240 } },
  "webhook-router": { queue: "priority", answer_within_hours: 4, order: { id: "A-17", amount: 1250 } },
};

test("each template that needs no model is among those that are run", () => {
  const ids = listTemplates().items.flatMap(({ id, needs_model }) => (needs_model ? [] : [id]));
  expect(Object.keys(outputs).sort()).toEqual(ids.sort());
});

test.each(listTemplates().items.map(({ id, file }) => [id, file] as const))(
  "no card of %s lies upon another",
  (_, { nodes, edges, requires }) => {
    for (const graph of [{ nodes, edges }, ...(requires.workflows ?? [])])
      expect(overlapsIn({ ...graph, data: Object.fromEntries(graph.nodes.map(({ id, data }) => [id, data])) })).toEqual(new Set());
  },
);

test.each(Object.entries(outputs))("%s runs to its end as it comes", async (id, expected) => {
  const run = await tried(id);
  expect(run).toMatchObject({ status: "completed", error: null });
  if (expected instanceof RegExp) expect(run.output).toMatch(expected);
  else expect(typeof expected === "object" ? JSON.parse(run.output ?? "") : run.output).toEqual(expected);
});

const hexOf = (secret: string, text: string) => createHmac("sha256", secret).update(text).digest("hex");
/** What each sender puts beside a body, made with the secret that it has given to the set-up. */
const SENDERS: Record<string, (secret: string, body: string, time: string) => Record<string, string>> = {
  github: (secret, body) => ({ "x-hub-signature-256": `sha256=${hexOf(secret, body)}`, "x-github-delivery": randomUUID() }),
  stripe: (secret, body, time) => ({ "stripe-signature": `t=${time},v1=${hexOf(secret, `${time}.${body}`)}` }),
  slack: (secret, body, time) => ({
    "x-slack-request-timestamp": time,
    "x-slack-signature": `v0=${hexOf(secret, `v0:${time}:${body}`)}`,
  }),
};

test.each([
  ["github-events", { zen: "Keep it logically awesome." }, "ping"],
  [
    "github-events",
    {
      action: "opened",
      pull_request: { number: 7, title: "Oil it", html_url: "https://github.com/octo/loom/pull/7", user: { login: "ada" } },
      repository: { full_name: "octo/loom" },
    },
    "[octo/loom#7](https://github.com/octo/loom/pull/7) Oil it by ada",
  ],
  [
    "stripe-payments",
    {
      id: "evt_2",
      type: "payment_intent.payment_failed",
      created: 1772357400,
      data: { object: { amount: 500, currency: "jpy", last_payment_error: { message: "Your card was declined." } } },
    },
    "**Not paid:** order without a number. Your card was declined.",
  ],
  ["stripe-payments", { id: "evt_3", type: "charge.refunded", data: { object: { amount: 5, currency: "eur" } } }, "charge.refunded"],
  [
    "slack-mentions",
    { type: "event_callback", event_id: "Ev2", event: { type: "app_mention", user: "U1", channel: "C1", text: "<@U0> help" } },
    { channel: "C1", text: "Ask me for the *status* of something." },
  ],
  ["slack-mentions", { type: "event_callback", event_id: "Ev3", event: { type: "message", text: "hello" } }, "message"],
])("%s takes %o as its sender signs it", async (id, payload, expected) => {
  const { id: workflow_id } = await importWorkflow(admin, { file: templateOf(id).file });
  const secret = `secret-of-${id}`;
  await setupWebhook(admin, { workflow_id, webhook_secret: secret });
  const body = JSON.stringify(payload);
  const headers = SENDERS[String(triggerOf(id).auth)]?.(secret, body, String(Math.floor(Date.now() / 1000))) ?? {};
  const url = `http://localhost/api/v1/webhooks/${workflow_id}`;
  const send = (sent: Record<string, string>) =>
    answerApi(new Request(url, { method: "POST", body, headers: { "content-type": "application/json", ...sent } }));
  expect((await send({})).status).toBe(401);
  const answer = await send(headers);
  expect(answer.status).toBe(202);
  const { output } = await finished((await answer.json()).execution_id);
  expect(typeof expected === "object" ? JSON.parse(output ?? "") : output).toEqual(expected);
});

test("the JSON API answers in the call that asks it", async () => {
  const { id } = await importWorkflow(admin, { file: templateOf("quote-api").file });
  const { key } = await createPlatformKey(admin, { name: "Shop" });
  const ask = (body: object) =>
    answerApi(
      new Request(`http://localhost/api/v1/http/${id}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
  const answers = [
    await ask({ items: [{ price: 4, quantity: 2 }] }),
    await ask({ items: [{ price: 4, quantity: 2 }], country: "fr" }),
    await ask({ items: "none" }),
  ];
  const told = await Promise.all(answers.map((answer) => answer.json()));
  expect(told.map(({ status, run_status = status }) => run_status)).toEqual(["completed", "completed", "failed"]);
  expect(told.slice(0, 2).map(({ output }) => JSON.parse(output))).toMatchObject([
    { total: 8, shipping: "letter" },
    { total: 8, country: "FR", shipping: "courier" },
  ]);
});

test("an address is told to be up, changed, broken or down", async () => {
  const server = createServer((request, response) => response.writeHead(request.url === "/broken" ? 500 : 200).end("Welcome to the Mill"));
  const { url, stop } = await listen(server);
  onTestFinished(() => stop());
  const say = async (params: Record<string, unknown>) => (await tried("site-check", { params })).output;
  expect(await say({ url, words: "the mill" })).toBe(`**Up.** ${url} answered with 200.`);
  expect(await say({ url, words: "<spindle>" })).toBe(`**Changed.** ${url} answers, but not with “&lt;spindle&gt;”.`);
  expect(await say({ url: `${url}/broken`, words: "the mill" })).toBe(`**BROKEN.** ${url}/broken: Welcome to the Mill`);
  expect(await say({ url: "http://127.0.0.1:1", words: "" })).toMatch(/^\*\*DOWN\.\*\* http:\/\/127\.0\.0\.1:1: ./);
});

test.each([
  [{ days: 1 }, /^\*\*Granted:\*\* ADA LOVELACE, 1 days/],
  [{ days: 90 }, /^\*\*Declined:\*\* ADA LOVELACE, 90 days/],
])("a leave request of %o needs no manager", async (params, expected) => {
  const run = await tried("leave-request", { params });
  expect(run.output).toMatch(expected);
  expect(run.node_results.ask?.status).toBe("skipped");
});

test("the error workflow starts when another one fails", async () => {
  const { id: error_workflow_id } = await importWorkflow(admin, { file: templateOf("failure-report").file });
  const count = { name: "count", value: "401 <no>", type: "number" };
  const failing = graphOf({ nodes: { t: ["triggerNode"], Count: ["setNode", { fields: [count] }] }, edges: ["t>Count"] });
  const { id } = await createWorkflow(admin, { name: "Import", ...failing, error_workflow_id });
  await finished((await executeWorkflow(admin, { workflow_id: id, input: "" })).execution_id);
  const told = () => db().execution.findFirst({ where: { workflow_id: error_workflow_id } });
  await until(async () => (await told()) !== null);
  const run = await finished((await told())?.id ?? "");
  expect(run).toMatchObject({ status: "completed", trigger: "error" });
  expect(run.output).toMatch(/^\*\*Import failed at Count\*\*: look at the credential[\s\S]*401 &lt;no&gt;/);
});

test("a workflow that nodes run comes along with the file, is made where it is not, and found where it is", async () => {
  const { file } = templateOf("order-batch");
  const first = await importWorkflow(admin, { file });
  expect((await checkImport(admin, { file })).workflows).toEqual([{ name: "Price one order", exists: true }]);
  const again = await importGraph(admin, { file });
  const childOf = (graph: Graph) => graph.nodes.find(({ type }) => type === "workflowNode")?.data.workflow_id;
  expect(childOf(again)).toBe(childOf(first));
  const ada = await database.newAdmin();
  expect((await checkImport(ada, { file })).workflows).toEqual([{ name: "Price one order", exists: false }]);
  const theirs = await importWorkflow(ada, { file });
  expect(theirs.problems).toEqual([]);
  expect(childOf(theirs)).not.toBe(childOf(first));
  expect(await exportWorkflow(ada, { workflow_id: theirs.id, draft: false })).toEqual(file);
});

test("a file brings along what is run by what its nodes run, and nothing that leads back, elsewhere, or to a deleted one", async () => {
  const ada = await database.newAdmin();
  const drawn = (nodes: Golden["nodes"], edges: string[]) => graphOf({ nodes: { t: ["triggerNode"], ...nodes }, edges });
  const make = async (name: string, graph: Graph) => (await createWorkflow(ada, { name, ...graph })).id;
  const leaf = await make("Leaf", drawn({ o: ["outputNode", { value: "{{credentials.KEY}}" }] }, ["t>o"]));
  const middle = await make("Middle", drawn({ w: ["workflowNode", { workflow_id: leaf, version: 1 }] }, ["t>w"]));
  const top = await make("Top", drawn({}, []));
  const back = await make("Back", drawn({ w: ["workflowNode", { workflow_id: top }] }, ["t>w"]));
  const gone = await make("Gone", drawn({}, []));
  await deleteWorkflow(ada, { workflow_id: gone });
  const foreign = await importWorkflow(admin, { file: templateOf("webhook-router").file });
  const calls = [leaf, middle, back, gone, foreign.id];
  const nodes = Object.fromEntries(calls.map((workflow_id, n) => [`w${n}`, ["workflowNode", { workflow_id }] as [string, object]]));
  await updateWorkflow(ada, {
    workflow_id: top,
    ...drawn(
      nodes as Golden["nodes"],
      calls.map((_, n) => `t>w${n}`),
    ),
  });
  const file = await exportWorkflow(ada, { workflow_id: top, draft: false });
  expect(file.requires).toMatchObject({ workflows: [{ key: "leaf" }, { key: "middle" }, { key: "back" }], credentials: ["KEY"] });
  expect(file.nodes.map(({ data }) => data.workflow_id)).toEqual([undefined, "leaf", "middle", "back", "", ""]);
  const calledBy = (n: number) => file.requires.workflows?.[n]?.nodes[1]?.data;
  expect([calledBy(1), calledBy(2)]).toMatchObject([{ workflow_id: "leaf", version: "current" }, { workflow_id: "" }]);
  for (const id of [...calls, top]) expect(JSON.stringify(file)).not.toContain(id);
  const other = await database.newAdmin();
  const made = await importWorkflow(other, { file });
  expect(made.problems.map(({ node_id }) => node_id)).toEqual(["w3", "w4"]);
  expect(await db().workflow.count({ where: { project_id: other.project.id } })).toBe(4);
});

test("what a file brings along is looked at before anything is made", async () => {
  const ada = await database.newAdmin();
  const { file } = templateOf("order-batch");
  const [child] = file.requires.workflows ?? [];
  const having = (workflows: unknown) => importWorkflow(ada, { file: { ...file, requires: { ...file.requires, workflows } } });
  await expect(having([child, child])).rejects.toThrow('two workflows under the key "price-one-order"');
  await expect(having([{ ...child, nodes: [], edges: [] }])).rejects.toMatchObject({
    message: expect.stringContaining('The graph of "Price one order" in the file cannot be saved.'),
    errors: [{ path: "file.requires.workflows.0.nodes", message: "The workflow has no trigger. Add one triggerNode." }],
  });
  await expect(having([])).rejects.toThrow("damaged at requires.workflows");
  expect(await db().workflow.count({ where: { project_id: ada.project.id } })).toBe(0);
});
