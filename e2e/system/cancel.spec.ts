import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { nodesTold, readStream } from "#e2e/api/read-stream.ts";
import { apiClient } from "#e2e/api-client.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { newDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { noLimits, onPostgres, signedIn } from "#e2e/system/install.ts";
import { newDatabase, type OwnPostgres } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/** What the contract allows between the request and the end, in milliseconds. */
const LIMIT_MS = 5000;
const key = `sk-service-${"stopping".repeat(5)}`;

let postgres: Pick<OwnPostgres, "url" | "stop">;
let models: ModelServer;
let place: { dataDir: string; env: Record<string, string> };
let server: Treadle;
test.beforeAll(async () => {
  postgres = await newDatabase();
  models = await startModelServer();
  const env = { ...onPostgres(postgres, key), ...noLimits, ALLOW_PRIVATE_NETWORK: "1" };
  place = { dataDir: newDataDir(), env };
  server = await startTreadle({ ...place, env: { ...env, PROJECT_CONCURRENCY: "2" } });
});
test.afterAll(async () => {
  await server.stop();
  await models.stop();
  await postgres.stop();
});

/** Agent nodes that ask this agent, by what they say. */
const asking =
  (agent_id: string) =>
  (input: string): [string, Record<string, unknown>] => ["agent", { agent_id, input }];

/** Three calls that are never answered, one beside a loop and two in it, and a node behind them. */
function hanging(agent_id: string) {
  const ask = asking(agent_id);
  return graphOf(
    {
      t: ["trigger"],
      plain: ask("[[hang]] {{trigger.output}} plain"),
      Each: ["loop", { items_expression: '["a", "b", "c"]', concurrency: 2 }],
      inside: ask("[[hang]] {{trigger.output}} {{Each.current_item}}"),
      next: ask("never {{trigger.output}} {{plain.output}}"),
    },
    ["t>plain", "t>Each", "Each.body>inside", "plain>next"],
  );
}

async function project() {
  const api = apiClient({ url: server.url, key });
  const name = randomUUID();
  const fields = { name, provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url };
  const { body: llm } = await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 });
  const { body: agent } = await api.post("/agents", { name, model: "echo", llm_key_id: llm.id }, { schema: Agent, status: 201 });
  const read = async (id: string) => (await api.get(`/executions/${id}`, { schema: Execution })).body;
  return {
    api,
    agent,
    read,
    async run(graph: ReturnType<typeof graphOf>, input = "x"): Promise<string> {
      const { body: flow } = await api.post("/workflows", { name: randomUUID(), ...graph }, { schema: Workflow, status: 201 });
      return (await api.post(`/workflows/${flow.id}/execute`, { input }, { schema: ExecuteResult, status: 202 })).body.execution_id;
    },
    /**
     * Cancels, and proves by the server's own times that the run ended soon after the request.
     * @returns how it ended, with what its stream told of nodes: "start a", "skipped inside 0", in order
     */
    async cancel(id: string): Promise<Execution & { told: string[] }> {
      const asked = Date.now();
      await api.post(`/executions/${id}/cancel`, {}, { schema: Execution, status: 200 });
      const ended = await until(async () => {
        const current = await read(id);
        return isFinal(current.status) ? current : undefined;
      });
      expect(ended).toMatchObject({ status: "cancelled", output: null });
      expect(Date.parse(ended.completed_at ?? "") - asked).toBeLessThan(LIMIT_MS);
      const events = await readStream(`${server.url}/api/v1/executions/${id}/stream?token=${key}`);
      const last = events.filter(({ event }) => event === "execution_complete" || event === "execution_failed");
      expect(last).toMatchObject([{ data: { status: "cancelled" } }]);
      expect(events.at(-1)).toEqual(last[0]);
      await api.post(`/executions/${id}/cancel`, {}, { schema: ErrorBody, status: 409 });
      return { ...ended, told: nodesTold(events) };
    },
  };
}

test("cancelled while it waits in a review: the review is withdrawn and can no longer be decided", async () => {
  const { api, read, run, cancel } = await project();
  const graph = graphOf({ t: ["trigger"], Check: ["humanLoop"], o: ["output"] }, ["t>Check", "Check.approved>o"]);
  const id = await run(graph);
  await until(async () => (await read(id)).status === "paused");
  const ended = await cancel(id);
  expect(ended.node_results).toMatchObject({ t: { status: "complete" }, Check: { status: "skipped" }, o: { status: "skipped" } });
  expect(ended.told).toEqual(["start t", "complete t", "start Check", "skipped Check", "skipped o"]);
  await api.post(`/executions/${id}/approve`, { decision: "approved" }, { schema: ErrorBody, status: 409 });
  expect((await read(id)).status).toBe("cancelled");
});

test("cancelled while it calls models, one in a loop: the calls are aborted and nothing after them is called", async () => {
  const { agent, run, cancel } = await project();
  const mark = randomUUID();
  const graph = hanging(agent.id);
  const id = await run(graph, mark);
  await until(() => models.calls({ contains: mark }).length === 3);
  const asked = performance.now();
  const { told } = await cancel(id);
  expect(told.slice(0, 6)).toEqual(["start t", "complete t", "start Each", "start plain", "start inside 0", "start inside 1"]);
  expect(told.slice(6).sort()).toEqual(["skipped Each", "skipped inside 0", "skipped inside 1", "skipped next", "skipped plain"]);
  await until(() => models.calls({ contains: mark }).every(({ outcome }) => outcome === "aborted"), LIMIT_MS);
  expect(performance.now() - asked).toBeLessThan(LIMIT_MS);
  expect(
    models
      .calls({ contains: mark })
      .map(({ message }) => message.split(" ").at(-1))
      .sort(),
  ).toEqual(["a", "b", "plain"]);
});

test("cancelled while it is queued behind others: it never starts, and the others are not disturbed", async () => {
  const { agent, read, run, cancel } = await project();
  const mark = randomUUID();
  const gate = `hold-${mark}`;
  const graph = graphOf({ t: ["trigger"], a: ["agent", { agent_id: agent.id, input: `[[gate-${gate}]] {{trigger.output}}` }] }, ["t>a"]);
  const first = await Promise.all([run(graph, `${mark} one`), run(graph, `${mark} two`)]);
  await until(() => models.calls({ contains: mark }).length === 2);
  const [queued, after] = [await run(graph, `${mark} queued`), await run(graph, `${mark} after`)];
  expect((await read(queued)).started_at).toBeNull();
  const ended = await cancel(queued);
  expect(ended).toMatchObject({ started_at: null, node_results: { a: { status: "skipped" } } });
  models.release(gate);
  for (const id of [...first, after]) await until(async () => (await read(id)).status === "completed");
  expect(models.calls({ contains: `${mark} queued` })).toHaveLength(0);
});

test("runs are cancelled by a process that carries none of them: begun where accepted, taken by workers, gone on after a review", async () => {
  const web = await startTreadle({ ...place, role: "web" });
  const api = apiClient({ url: web.url, key });
  const database = new pg.Client(postgres.url);
  await database.connect();

  const { body: llm } = await api.post(
    "/llm-keys",
    { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url },
    { schema: LlmKey, status: 201 },
  );
  const { body: agent } = await api.post("/agents", { name: "Echo", model: "echo", llm_key_id: llm.id }, { schema: Agent, status: 201 });
  const ask = asking(agent.id);
  const save = async (name: string, graph: ReturnType<typeof graphOf>) =>
    (await api.post("/workflows", { name, ...graph }, { schema: Workflow, status: 201 })).body.id;
  const straight = await save("Straight", hanging(agent.id));
  const checked = await save(
    "Checked",
    graphOf({ t: ["trigger"], Check: ["humanLoop"], a: ask("[[hang]] {{trigger.output}} checked") }, ["t>Check", "Check.approved>a"]),
  );
  const short = await save("Short", graphOf({ t: ["trigger"], a: ask("{{trigger.output}} short") }, ["t>a"]));

  const run = async (at: typeof api, workflow: string, input: string) =>
    (await at.post(`/workflows/${workflow}/execute`, { input }, { schema: ExecuteResult, status: 202 })).body.execution_id;
  const read = async (id: string) => (await api.get(`/executions/${id}`, { schema: Execution })).body;
  const underWay = (mark: string) => models.calls({ contains: mark }).filter(({ outcome }) => outcome === "running");
  /** Names of the leases under which these runs are carried now. */
  const holders = async (ids: string[]) => {
    const held = "SELECT lease_owner FROM executions WHERE id = ANY($1::uuid[]) AND lease_until > now() AND status = 'running'";
    return (await database.query<{ lease_owner: string }>(held, [ids])).rows.map(({ lease_owner }) => lease_owner);
  };
  const pidOf = (holder: string) => Number(holder.split("-")[0]);
  /** Cancels them through the web process, and proves that each ended and each of its calls was cut, soon after the request. */
  const cancel = async (ids: string[], mark: string) => {
    const [asked, from] = [Date.now(), performance.now()];
    await Promise.all(ids.map((id) => api.post(`/executions/${id}/cancel`, {}, { schema: Execution, status: 200 })));
    await until(() => models.calls({ contains: mark }).every(({ outcome }) => outcome === "aborted"), LIMIT_MS);
    expect(performance.now() - from).toBeLessThan(LIMIT_MS);
    for (const ended of await Promise.all(ids.map(read))) {
      expect(ended).toMatchObject({ status: "cancelled", output: null, error: null });
      expect(Date.parse(ended.completed_at ?? "") - asked).toBeLessThan(LIMIT_MS);
      expect(Object.values(ended.node_results).map(({ status }) => status)).not.toContain("running");
    }
  };

  // A process that is alone begins in itself what it accepts, and no executor knows of it.
  const alone = randomUUID();
  const begun = await run(apiClient({ url: server.url, key }), straight, alone);
  await until(() => underWay(alone).length === 3);
  const [holder = ""] = await holders([begun]);
  expect([pidOf(holder), holder.includes("-here-")], "it began where it was accepted").toEqual([server.pid, true]);
  await cancel([begun], alone);
  expect(await server.stop()).toBe(0);

  // Two workers with two places each: four runs, two of them gone on after a review, fill both.
  const ofWorkers = { ...place, env: { ...place.env, WORKER_CONCURRENCY: "2" }, role: "worker" } as const;
  const workers = await Promise.all([0, 1].map(() => startTreadle(ofWorkers)));
  const shared = randomUUID();
  const reviewed = [await run(api, checked, `${shared} one`), await run(api, checked, `${shared} two`)];
  for (const id of reviewed) {
    await until(async () => (await read(id)).status === "paused");
    await api.post(`/executions/${id}/approve`, { decision: "approved" }, { schema: Execution, status: 200 });
  }
  const ids = [...reviewed, await run(api, straight, `${shared} three`), await run(api, straight, `${shared} four`)];
  await until(() => underWay(shared).length === 2 + 2 * 3);
  const carriers = (await holders(ids)).map(pidOf).sort();
  expect(carriers).toEqual(workers.flatMap(({ pid }) => [pid, pid]).sort());
  expect(carriers).not.toContain(web.pid);
  await cancel(ids, shared);

  // The places are free again, and nothing came after what was cut.
  const after = await Promise.all([0, 1, 2, 3].map((n) => run(api, short, `after ${n}`)));
  for (const id of after) await until(async () => (await read(id)).status === "completed");
  expect(models.calls({ contains: alone })).toHaveLength(3);
  expect(models.calls({ contains: shared })).toHaveLength(8);

  // The assistant is stopped by a process that does not work for it, too.
  const call = await signedIn(web.url);
  await call("PUT", "/bridge/settings", { llm_key_id: llm.id, model: "hang" });
  const thread = await call("POST", "/bridge/threads", {});
  const asked = randomUUID();
  await call("POST", `/bridge/threads/${thread.id}/messages`, { content: asked });
  await until(() => underWay(asked).length === 1);
  const from = performance.now();
  await call("POST", `/bridge/threads/${thread.id}/stop`);
  await until(async () => (await call("GET", `/bridge/threads/${thread.id}`)).messages[0].status === "stopped");
  await until(() => models.calls({ contains: asked })[0]?.outcome === "aborted");
  expect(performance.now() - from).toBeLessThan(2000);

  await Promise.all([web, ...workers].map((process) => process.stop()));
  await database.end();
});
