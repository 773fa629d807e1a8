import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { graphOf } from "#e2e/api/graphs.ts";
import { nodesTold, readStream } from "#e2e/api/read-stream.ts";
import { apiClient } from "#e2e/api-client.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, noRateLimit } from "#e2e/system/install.ts";
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
const env = {
  ...firstUser(key),
  ...noRateLimit,
  PROJECT_CONCURRENCY: "2",
};

let server: Treadle;
let models: ModelServer;
test.beforeAll(async () => {
  models = await startModelServer();
  server = await startTreadle({ env });
});
test.afterAll(async () => {
  await server.stop();
  await models.stop();
});

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
  const ask = (input: string): [string, Record<string, unknown>] => ["agent", { agent_id: agent.id, input }];
  const graph = graphOf(
    {
      t: ["trigger"],
      plain: ask("[[hang]] {{trigger.output}} plain"),
      Each: ["loop", { items_expression: '["a", "b", "c"]', concurrency: 2 }],
      inside: ask("[[hang]] {{trigger.output}} {{Each.current_item}}"),
      next: ask("never {{trigger.output}} {{plain.output}}"),
    },
    ["t>plain", "t>Each", "Each.body>inside", "plain>next"],
  );
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
