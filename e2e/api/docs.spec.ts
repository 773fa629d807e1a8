import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { exampleFiles, exampleText, missing, play, run } from "#e2e/examples.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { flakyProxy } from "#e2e/flaky-proxy.ts";
import { until } from "#e2e/until.ts";
import { HttpTriggerResult } from "#server/features/http-trigger/schema.ts";
import { WebhookSetup } from "#server/features/webhooks/schema.ts";
import { Workflow, WorkflowPage } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";

// Every example of the guide (app/docs/examples) is executed here against the server, or read by the production schemas.

const root = join(import.meta.dirname, "../..");

const variables = (url: string, { key }: ApiClient): Record<string, string> => ({ TREADLE_URL: `${url}/api/v1`, TREADLE_KEY: key });

const paused = (api: ApiClient, id: string) =>
  until(async () => (await api.get(`/executions/${id}`, { schema: Execution })).body.status === "paused");

const newestExecution = (api: ApiClient, workflowId: string) =>
  until(async () => (await api.get(`/executions?workflow_id=${workflowId}`)).body.items[0] as { id: string; status: string } | undefined);

test("every example is shown by a page, and named by a spec", () => {
  const guide = join(root, "app/docs");
  const files = readdirSync(guide, { recursive: true, encoding: "utf8" }).filter((file) => /(^|\/)(page\.mdx|mdx\.tsx)$/.test(file));
  const pages = files.map((file) => readFileSync(join(guide, file), "utf8")).join("\n");
  const spec = ["docs.spec.ts", "docs-resources.spec.ts"].map((file) => readFileSync(join(import.meta.dirname, file), "utf8")).join("\n");
  for (const file of exampleFiles) {
    expect(pages, `${file} is shown`).toMatch(new RegExp(`["/]${file.replaceAll(".", "\\.")}"`));
    const isNamed = spec.includes(`"${file}"`) || spec.includes(`"${file.replace(/\.\w+$/, "")}"`);
    expect(isNamed, `${file} is executed or read`).toBe(true);
  }
  for (const [, file] of pages.matchAll(/<Example file="([^"]+)"/g)) expect(exampleFiles).toContain(file);
});

test.describe("with curl", () => {
  const absent = missing("sh");
  test.skip(absent !== false, String(absent));

  test("a key, a workflow, a run that waits for a person, and its end", async ({ baseURL, api }) => {
    const env = variables(baseURL, api);
    const setUp = exampleText("environment.sh").replace("http://localhost:3000", baseURL).replace("sk-service-…", api.key);
    const me = await run("bash", ["-eu", "-c", `${setUp}\n${exampleText("who-am-i.sh")}`], {});
    expect(JSON.parse(me)).toMatchObject({ auth: { type: "platform_key" } });
    const flow = Workflow.parse(JSON.parse(await play("create-workflow.sh", env)));
    expect(flow).toMatchObject({ ...JSON.parse(exampleText("workflow.json")), problems: [] });
    expect(WorkflowPage.parse(JSON.parse(await play("list-workflows.sh", env))).items.map(({ id }) => id)).toContain(flow.id);
    const started = ExecuteResult.parse(JSON.parse(await play("run-workflow.sh", { ...env, WORKFLOW_ID: flow.id })));
    const about = { ...env, EXECUTION_ID: started.execution_id };
    await paused(api, started.execution_id);
    const following = play("follow-execution.sh", about);
    expect(JSON.parse(await play("approve-review.sh", about)).reviews).toMatchObject([{ decision: "approved", comment: "Looks good" }]);
    expect(await following).toMatch(/event: execution_complete\n.*"status":"completed".*\n\n$/s);
    expect(Execution.parse(JSON.parse(await play("read-execution.sh", about)))).toMatchObject({
      status: "completed",
      output: "Write a line about looms.",
    });
  });

  test("a call that names itself is done once; a run is stopped", async ({ baseURL, api }) => {
    const env = variables(baseURL, api);
    const flow = JSON.parse(await play("create-workflow.sh", env));
    const first = ExecuteResult.parse(JSON.parse(await play("run-once.sh", { ...env, WORKFLOW_ID: flow.id })));
    const again = ExecuteResult.parse(JSON.parse(await play("run-once.sh", { ...env, WORKFLOW_ID: flow.id })));
    expect(again.execution_id).toBe(first.execution_id);
    const other = await api.post(`/workflows/${flow.id}/execute`, { input: "Another" }, { headers: { "idempotency-key": "order-4711" } });
    expect(other.status).toBe(409);
    const stopped = JSON.parse(await play("cancel-execution.sh", { ...env, EXECUTION_ID: first.execution_id }));
    expect(stopped.status).toBe("cancelled");
  });

  test("webhook, schedule and HTTP call", async ({ baseURL, api, workflow, finished }) => {
    const env = variables(baseURL, api);
    const flow = (trigger: Record<string, unknown>, value: string) =>
      workflow(graphOf({ Start: ["trigger", trigger], Answer: ["output", { value }] }, ["Start>Answer"]));
    const hooked = await flow({ kind: "webhook" }, "{{trigger.output.issue.title}}");
    const setup = WebhookSetup.parse(JSON.parse(await play("set-up-webhook.sh", { ...env, WORKFLOW_ID: hooked.id })));
    const sender = { WEBHOOK_URL: `${baseURL}${new URL(setup.webhook_url).pathname}`, WEBHOOK_SECRET: setup.webhook_secret };
    const accepted = ExecuteResult.parse(JSON.parse(await play("send-webhook.sh", sender)));
    expect((await finished(accepted.execution_id)).output).toBe("It is broken");

    const timed = await flow({ kind: "schedule", cron_expression: "0 8 * * *", timezone: "UTC" }, "tea");
    const saved = Workflow.parse(JSON.parse(await play("set-schedule.sh", { ...env, WORKFLOW_ID: timed.id })));
    expect(saved.schedule).toMatchObject({ enabled: true, cron_expression: "30 9 * * 1-5", timezone: "Europe/Berlin" });

    const called = await flow(
      { kind: "http", allowed_methods: ["POST"], response_mode: "sync" },
      "{{trigger.output.query.city}} {{trigger.output.body.days}}",
    );
    const answer = HttpTriggerResult.parse(JSON.parse(await play("call-http-trigger.sh", { ...env, WORKFLOW_ID: called.id })));
    expect(answer).toMatchObject({ status: "completed", output: "Oslo 3" });
  });

  for (const [auth, script, path, expected] of [
    ["github", "send-as-github.sh", "issue.title", "It is broken"],
    ["stripe", "send-as-stripe.sh", "data.object.amount", "12950"],
    ["slack", "send-as-slack.sh", "event.text", "<@U0LAN0Z89> status"],
  ] as const)
    test(`a call as ${auth} signs it, with the sender's own secret`, async ({ baseURL, api, workflow, finished }) => {
      const nodes = { Start: ["trigger", { kind: "webhook", auth }], Answer: ["output", { value: `{{trigger.output.${path}}}` }] };
      const { id } = await workflow(graphOf(nodes as never, ["Start>Answer"]));
      const secret = { WEBHOOK_SECRET: "made-by-the-sender" };
      const about = { ...variables(baseURL, api), ...secret, WORKFLOW_ID: id };
      const { webhook_url } = WebhookSetup.parse(JSON.parse(await play("set-up-sender.sh", about)));
      const sent = await play(script, { ...secret, WEBHOOK_URL: `${baseURL}${new URL(webhook_url).pathname}` });
      expect((await finished(ExecuteResult.parse(JSON.parse(sent)).execution_id)).output).toBe(expected);
    });

  test("a workflow that starts when another one fails, and what it is told", async ({ baseURL, api, workflow, execute, finished }) => {
    const listener = await workflow(graphOf({ Start: ["trigger"], Told: ["output", { value: "{{trigger.output}}" }] }, ["Start>Told"]));
    const count = { name: "count", value: "none", type: "number" };
    const failing = await workflow(graphOf({ Start: ["trigger"], Count: ["set", { fields: [count] }] }, ["Start>Count"]));
    const about = { ...variables(baseURL, api), WORKFLOW_ID: failing.id, ERROR_WORKFLOW_ID: listener.id };
    expect(JSON.parse(await play("set-error-workflow.sh", about)).error_workflow_id).toBe(listener.id);
    const failed = await finished(await execute(failing, {}));
    const started = await newestExecution(api, listener.id);
    const told = JSON.parse((await finished(started?.id ?? "")).output ?? "");
    const shown = JSON.parse(exampleText("error-workflow-input.json"));
    expect(Object.keys(told)).toEqual(Object.keys(shown));
    expect([told, shown].map(({ workflow: of, failed_node }) => [Object.keys(of), Object.keys(failed_node)])).toEqual(
      Array(2).fill([
        ["id", "name"],
        ["id", "label"],
      ]),
    );
    expect(told).toMatchObject({ execution_id: failed.id, error: failed.error, failed_node: { label: "Count" } });
    expect([told.error, shown.error]).toEqual([expect.stringMatching(/^Count: /), expect.stringMatching(/^Fetch the list: /)]);
  });

  test("the commands of the README", async ({ baseURL, api, workflow }) => {
    const block = /## Run a workflow with curl.*?```sh\n(.*?)```/s.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1] ?? "";
    const { id } = await workflow({});
    const script = block.replace("http://localhost:3000", baseURL).replace("sk-service-…", api.key).replace("WORKFLOW=…", `WORKFLOW=${id}`);
    const printed = await run("bash", ["-eu", "-c", script], {});
    expect(printed).toContain("event: execution_complete");
    expect(JSON.parse(printed.slice(printed.lastIndexOf("\n{")))).toMatchObject({ status: "completed", input: "tea" });
  });
});

test("types are generated from the server's own document", async ({ baseURL }) => {
  const [install, generate = ""] = exampleText("generate-types.sh").trim().split("\n");
  expect(install).toMatch(/^npm install openapi-fetch && npm install --save-dev openapi-typescript typescript$/);
  const folder = mkdtempSync(join(tmpdir(), "treadle-types-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    await run("bash", ["-eu", "-c", generate], { TREADLE_URL: `${baseURL}/api/v1` }, folder);
    expect(readFileSync(join(folder, "treadle.d.ts"), "utf8")).toContain('"/workflows/{workflow_id}/execute"');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const CLIENTS = [
  {
    language: "TypeScript",
    absent: false as const,
    list: "list-workflows.ts",
    run: "run-workflow.ts",
    approve: "approve-review.ts",
    send: "send-webhook.ts",
    library: "client.ts",
  },
  {
    language: "Python",
    absent: missing("py"),
    list: "list_workflows.py",
    run: "run_workflow.py",
    approve: "approve_review.py",
    send: "send_webhook.py",
    library: "treadle.py",
  },
];

for (const client of CLIENTS) {
  test.describe(`the client in ${client.language}`, () => {
    test.skip(client.absent !== false, String(client.absent));

    test("lists every page", async ({ baseURL, api }) => {
      test.setTimeout(180_000); // more workflows than a page holds are made first
      const make = (number: number) => api.post("/workflows", { name: `Flow ${number}` }, { status: 201 });
      const ids: string[] = [];
      for (let from = 0; from < 102; from += 2) {
        const made = await Promise.all(Array.from({ length: 2 }, (_, index) => make(from + index)));
        ids.push(...made.map(({ body }) => body.id));
      }
      const lines = (await play(client.list, variables(baseURL, api))).trim().split("\n");
      expect(lines).toHaveLength(102);
      expect(new Set(lines.map((line) => line.split(" ")[0]))).toEqual(new Set(ids));
    });

    test("runs a workflow and follows it to its end, over a 429 and a broken line; approves, once", async ({ baseURL, api }) => {
      const { body: flow } = await api.post("/workflows", JSON.parse(exampleText("workflow.json")), { schema: Workflow, status: 201 });
      const proxy = await flakyProxy(baseURL);
      try {
        const running = play(client.run, { ...variables(proxy.url, api), WORKFLOW_ID: flow.id });
        const { id } = await newestExecution(api, flow.id);
        await paused(api, id);
        await until(() => proxy.requests.filter((request) => request.endsWith("/stream")).length === 3);
        const env = { ...variables(baseURL, api), EXECUTION_ID: id };
        expect(await play(client.approve, env)).toBe("Check: approved\n");
        expect(await running).toBe("Waits for a person: Send this?\ncompleted: Write a line about looms.\n");
        expect(await play(client.approve, env)).toMatch(/^.*approved.*\n$/); // who decided, and when
        expect(proxy.requests.filter((request) => request.startsWith("POST"))).toHaveLength(2);
        const { body: all } = await api.get(`/executions?workflow_id=${flow.id}`);
        expect(all.total).toBe(1);
      } finally {
        proxy.close();
      }
    });

    test("signs a webhook", async ({ api, baseURL, workflow, finished }) => {
      const graph = graphOf({ Start: ["trigger", { kind: "webhook" }], Answer: ["output", { value: "{{trigger.output.issue.title}}" }] }, [
        "Start>Answer",
      ]);
      const { id } = await workflow(graph);
      const { body } = await api.post(`/webhooks/setup/${id}`, undefined, { schema: WebhookSetup });
      const url = `${baseURL}${new URL(body.webhook_url).pathname}`;
      const printed = await play(client.send, { WEBHOOK_URL: url, WEBHOOK_SECRET: body.webhook_secret });
      expect((await finished(ExecuteResult.parse(JSON.parse(printed)).execution_id)).output).toBe("It is broken");
    });
  });
}

test("the answers that are shown have the shapes of the API", () => {
  expect(() => ExecuteResult.strict().parse(JSON.parse(exampleText("run-workflow-answer.json")))).not.toThrow();
  expect(() => WebhookSetup.strict().parse(JSON.parse(exampleText("set-up-webhook-answer.json")))).not.toThrow();
  expect(() => HttpTriggerResult.strict().parse(JSON.parse(exampleText("call-http-trigger-answer.json")))).not.toThrow();
});

test("the conditions are conditions", async ({ workflow }) => {
  const conditions = exampleText("conditions.py").trim().split("\n");
  expect(conditions.length).toBeGreaterThan(2);
  for (const condition of conditions) {
    const nodes = {
      Start: ["trigger", { kind: "manual" }],
      Scout: ["output", { value: "x" }],
      Branch: ["branch", { condition }],
      End: ["output"],
    } as const;
    const flow = await workflow(graphOf(structuredClone(nodes) as never, ["Start>Scout", "Scout>Branch", "Branch.true>End"]));
    expect(flow.problems, condition).toEqual([]);
  }
  const wrong = await workflow(graphOf({ Start: ["trigger"], Branch: ["branch", { condition: "1 +" }] }, ["Start>Branch"]));
  expect(wrong.problems).not.toEqual([]);
});

test("the expressions can be used", async ({ api, agent, workflow }) => {
  await api.post("/credentials", { name: "GITHUB_TOKEN", value: "not-a-real-token" }, { status: 201 });
  const found = [...exampleText("expressions.json").matchAll(/\{\{[^}]+\}\}/g)].map(([expression]) => expression);
  expect(found.length).toBeGreaterThan(10);
  const [inBody, after] = [/current_item|index/, /./].map((pattern) => found.filter((text) => pattern.test(text)).join(" "));
  const writer = await agent({ name: "Writer", model: "echo" });
  const graph = graphOf(
    {
      Start: ["trigger", { kind: "params", parameters: [{ name: "city", label: "City", type: "text", required: false }] }],
      Draft: ["agent", { agent_id: writer.id, input: "{{trigger.output}}" }],
      Review: ["humanLoop", { title: "Fine?" }],
      Loop: ["loop", { items_expression: '[{"name": "tea"}]' }],
      Each: ["output", { value: inBody }],
      End: ["output", { value: (after ?? "").replaceAll(/\{\{Loop\.(current_item\.name|index)\}\}/g, "") }],
    },
    ["Start>Draft", "Draft>Loop", "Loop.body>Each", "Loop.done>Review", "Review.approved>End"],
  );
  expect((await workflow(graph)).problems).toEqual([]);
});
