import { createHmac } from "node:crypto";
import { graphOf } from "#e2e/api/graphs.ts";
import type { ApiClient } from "#e2e/api-client.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { WebhookSetup } from "#server/features/webhooks/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

// What the benchmark runs: how each kind of run is started, and what it must come to.

export interface Scenario {
  name: string;
  runs: number;
  concurrency: number;
  workflow_id: string;
  /** Starts one run; resolves when it is accepted, or with `isSync` when it has ended. */
  start(mark: string): Promise<void>;
  isSync: boolean;
  /** Model calls that each run makes. */
  calls: number;
}

type Post = (path: string, body: string, headers: Record<string, string>) => Promise<Response>;

interface Addresses {
  /** Of the service, without a trailing slash. */
  url: string;
  /** Of the model stand-in, ending in /v1. */
  modelUrl: string;
  /** Of a server that answers at once. */
  quickUrl: string;
}

export async function makeScenarios(api: ApiClient, { url, modelUrl, quickUrl }: Addresses): Promise<Scenario[]> {
  const fields = { name: "Bench", provider: "openai_compatible", api_key: "bench", base_url: modelUrl };
  const key = (await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 })).body;
  const agent = (await api.post("/agents", { name: "Bench", llm_key_id: key.id, model: "zero" }, { schema: Agent, status: 201 })).body;
  const save = async (name: string, graph: ReturnType<typeof graphOf>) =>
    (await api.post("/workflows", { name, ...graph }, { schema: Workflow, status: 201 })).body.id;
  const post: Post = (path, body, headers) =>
    fetch(`${url}/api/v1${path}`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
  const bearer = { authorization: `Bearer ${api.key}` };
  const sent = async (answer: Response, status: number) => {
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`answered ${answer.status}: ${text.slice(0, 300)}`);
    return text;
  };

  const hook = await save("webhook", graphOf({ t: ["trigger", { kind: "webhook" }], o: ["output"] }, ["t>o"]));
  const { webhook_secret } = (await api.post(`/webhooks/setup/${hook}`, {}, { schema: WebhookSetup, status: 200 })).body;
  const shown = await save("shown", graphOf({ t: ["trigger", { kind: "webhook" }], o: ["output"] }, ["t>o"]));
  const shownSecret = (await api.post(`/webhooks/setup/${shown}`, {}, { schema: WebhookSetup, status: 200 })).body.webhook_secret;
  const place = { id: "mark", title: "Marks", workflow_id: shown, output_label: "o", layout: { x: 0, y: 0, w: 1, h: 1 } };
  const widget = { ...place, type: "number", options: { path: "$.mark", over: "runs", aggregate: "count" } };
  await api.post("/canvases", { name: "Bench", widgets: [widget] }, { status: 201 });
  const http = await save("http", graphOf({ t: ["trigger", { kind: "http", response_mode: "sync" }], o: ["output"] }, ["t>o"]));
  const steps = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const chain = await save(
    "chain",
    graphOf(Object.fromEntries([["t", ["trigger"]], ...steps.map((id) => [id, ["output"]])]), [
      "t>s0",
      ...steps.slice(1).map((id, index) => `s${index}>${id}`),
    ]),
  );
  const agentRun = await save(
    "agent",
    graphOf({ t: ["trigger"], a: ["agent", { agent_id: agent.id }], b: ["branch", { condition: "len(output) > 0" }], o: ["output"] }, [
      "t>a",
      "a>b",
      "b.true>o",
    ]),
  );
  const loop = await save(
    "loop",
    graphOf(
      {
        t: ["trigger"],
        L: ["loop", { items_expression: "{{trigger.output}}" }],
        item: ["output", { value: "{{L.index}}: {{L.current_item}}" }],
      },
      ["t>L", "L.body>item"],
    ),
  );
  const calling = await save(
    "calling",
    graphOf(
      {
        t: ["trigger", { kind: "webhook" }],
        h: ["http", { url: quickUrl }],
        s: ["set", { fields: [{ name: "made", value: "{{h.output.made}}", type: "number" }] }],
        o: ["output"],
      },
      ["t>h", "h>s", "s>o"],
    ),
  );
  const callingSecret = (await api.post(`/webhooks/setup/${calling}`, {}, { schema: WebhookSetup, status: 200 })).body.webhook_secret;
  const cases = Array.from({ length: 10 }, (_, index) => ({
    id: `${index}`,
    label: `Case ${index}`,
    condition: index === 9 ? "len(output) > 0" : `output == 'case ${index}'`,
  }));
  const switching = await save("switching", graphOf({ t: ["trigger"], s: ["switch", { cases }], o: ["output"] }, ["t>s", "s.case:9>o"]));
  const inner = await save("inner", graphOf({ t: ["trigger"], o: ["output"] }, ["t>o"]));
  const outer = await save("outer", graphOf({ t: ["trigger"], w: ["workflow", { workflow_id: inner }], o: ["output"] }, ["t>w", "w>o"]));
  const inputs = [{ name: "text", value: "{{trigger.output}}" }];
  const coding = await save(
    "coding",
    graphOf({ t: ["trigger"], c: ["code", { inputs, code: "len(text)" }], o: ["output"] }, ["t>c", "c>o"]),
  );
  const items = JSON.stringify(Array.from({ length: 1000 }, (_, index) => `item ${index}`));
  const execute = (workflow_id: string, input: (mark: string) => string) => async (mark: string) =>
    void (await sent(await post(`/workflows/${workflow_id}/execute`, JSON.stringify({ input: input(mark) }), bearer), 202));
  const call = (workflow_id: string, secret: string) => async (mark: string) => {
    const body = JSON.stringify({ mark });
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    await sent(await post(`/webhooks/${workflow_id}`, body, { "x-service-signature": `sha256=${signature}` }), 202);
  };
  const hello = { runs: 1000, concurrency: 20, isSync: false, calls: 0 };
  return [
    { ...hello, name: "hello: webhook → output", workflow_id: hook, start: call(hook, webhook_secret) },
    { ...hello, name: "hello: webhook → output, shown on a canvas", workflow_id: shown, start: call(shown, shownSecret) },
    {
      name: "hello: sync HTTP trigger → output",
      runs: 1000,
      concurrency: 20,
      workflow_id: http,
      isSync: true,
      calls: 0,
      start: async (mark) => {
        const { status } = JSON.parse(await sent(await post(`/http/${http}`, JSON.stringify({ mark }), bearer), 200));
        if (status !== "completed") throw new Error(`ended as ${status}`);
      },
    },
    {
      name: "chain of 10 pure nodes",
      runs: 1000,
      concurrency: 20,
      workflow_id: chain,
      isSync: false,
      calls: 0,
      start: execute(chain, (mark) => mark),
    },
    {
      name: "agent (0 ms model) → branch → output",
      runs: 1000,
      concurrency: 20,
      workflow_id: agentRun,
      isSync: false,
      calls: 1,
      start: execute(agentRun, (mark) => mark),
    },
    { ...hello, name: "webhook → http (0 ms server) → set → output", workflow_id: calling, start: call(calling, callingSecret) },
    { ...hello, name: "switch of 10 cases", workflow_id: switching, start: execute(switching, (mark) => mark) },
    { ...hello, name: "child run", workflow_id: outer, start: execute(outer, (mark) => mark) },
    { ...hello, name: "code node", workflow_id: coding, start: execute(coding, (mark) => mark) },
    {
      name: "loop of 1,000 pure items",
      runs: 20,
      concurrency: 1,
      workflow_id: loop,
      isSync: false,
      calls: 0,
      start: execute(loop, () => items),
    },
  ];
}
