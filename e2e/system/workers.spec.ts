import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { byMessage, type ExpectedRun, everyExecution, expectExactCalls, stopped } from "#e2e/call-counts.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { lengthOf } from "#e2e/length.ts";
import { newDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { COMMENT, type SavedWorkflow, saveStandardWorkflows } from "#e2e/standard-workflows.ts";
import { noLimits, onPostgres } from "#e2e/system/install.ts";
import { newDatabase, type OwnPostgres } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKeyPage } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import type { Execution } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// A web process, and workers that come and go.

const key = `sk-service-${"several1".repeat(5)}`;

const GATE = "worker-dies";

test.describe.configure({ mode: "serial" });

let postgres: Pick<OwnPostgres, "url" | "stop">;
let models: ModelServer;
let place: { dataDir: string; env: Record<string, string> };
let web: Treadle;
let api: ApiClient;
let database: pg.Client;
let workflows: SavedWorkflow[];
const workers: Treadle[] = [];

test.beforeAll(async () => {
  postgres = await newDatabase();
  models = await startModelServer();
  const port = await freePort();
  const env = {
    ...onPostgres(postgres, key),
    ...noLimits,
    ALLOW_PRIVATE_NETWORK: "1",
    WORKER_CONCURRENCY: "6",
    // Workers have to know where it is for addresses that runs hand out.
    APP_URL: `http://127.0.0.1:${port}`,
  };
  place = { dataDir: newDataDir(), env };
  web = await startTreadle({ ...place, port, role: "web" });
  api = apiClient({ url: web.url, key });
  database = new pg.Client(postgres.url);
  await database.connect();
  ({ workflows } = await saveStandardWorkflows(api, models.url, { pieceMs: 40 }));
});
test.afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await database.end();
  await web.stop();
  await models.stop();
  await postgres.stop();
});

async function startTwoWorkers(): Promise<void> {
  workers.push(...(await Promise.all([0, 1].map(() => startTreadle({ ...place, role: "worker" })))));
}

async function execute(workflow: SavedWorkflow, mark: string): Promise<ExpectedRun> {
  const { body } = await api.post(`/workflows/${workflow.id}/execute`, { input: workflow.input(mark) }, { status: 202 });
  return { workflow, mark, execution_id: body.execution_id };
}

/** A run whose one call is answered when the gate is open. */
async function executeHeld(): Promise<ExpectedRun> {
  const { body: keys } = await api.get("/llm-keys", { schema: LlmKeyPage });
  const fields = { name: "Held", model: `gate-${GATE}`, llm_key_id: keys.items[0]?.id };
  const { body: agent } = await api.post("/agents", fields, { schema: Agent, status: 201 });
  const graph = graphOf({ t: ["trigger"], hold: ["agent", { agent_id: agent.id, input: "hold {{trigger.output}}" }], o: ["output"] }, [
    "t>hold",
    "hold>o",
  ]);
  const { body: saved } = await api.post("/workflows", { name: "Held", ...graph }, { schema: Workflow, status: 201 });
  const workflow = {
    ...{ id: saved.id, name: saved.name, graph },
    input: (mark: string) => mark,
    output: (mark: string) => `Waited at ${GATE}: hold ${mark}`,
    calls: (mark: string) => [{ node_id: "hold", iteration: null, message: `hold ${mark}` }],
  };
  return execute(workflow, "here");
}

test("runs of which nobody was told are carried once, although two workers look for them", { tag: "@main" }, async () => {
  const runs: ExpectedRun[] = [];
  for (const workflow of workflows.filter(({ hasReview, isWoken }) => !hasReview && !isWoken))
    runs.push(await execute(workflow, `lost-${runs.length}`));
  // Nobody heard of them: whoever comes later finds the rows.
  await startTwoWorkers();

  await until(async () => {
    const { rows } = await database.query<{ status: string }>("SELECT status::text FROM executions");
    return rows.every(({ status }) => isFinal(status as Execution["status"]));
  }, 60_000);
  const calls = byMessage(models.calls());
  const all = await everyExecution(api);
  for (const run of runs)
    expect(await expectExactCalls(api, { ...run, calls, stops: [], all })).toEqual({ interrupted: 0, answeredTwice: 0, givenUp: 0 });
  const { rows } = await database.query("SELECT DISTINCT dispatch, lease_epoch FROM executions");
  expect(rows).toEqual([{ dispatch: 0, lease_epoch: 1 }]);
});

test("two workers share the runs; one is killed, and every run ends with its calls made once", { tag: "@main" }, async () => {
  const RUNS = lengthOf({ short: 20, long: 120 });
  const [first, second] = workers as [Treadle, Treadle];
  /** Ids of the runs of the test before. */
  const earlier = (await everyExecution(api)).map(({ id }) => id);
  const runs: ExpectedRun[] = [await executeHeld()];
  for (let index = 0; index < RUNS; index++) runs.push(await execute(workflows[index % workflows.length] as SavedWorkflow, `run-${index}`));
  const workersSeen = async () => {
    const carriers = "SELECT DISTINCT split_part(lease_owner, '-', 1) AS pid FROM executions WHERE id <> ALL($1::uuid[])";
    const { rows } = await database.query<{ pid: string }>(carriers, [earlier]);
    return rows.map(({ pid }) => Number(pid)).filter((pid) => pid > 0);
  };
  await until(async () => (await workersSeen()).length === 2);
  expect((await workersSeen()).sort()).toEqual([first.pid, second.pid].sort());

  // Killed while it waits for an answer, and for others perhaps: nobody may touch its runs before its leases have ended.
  await until(() => models.calls({ contains: "hold" }).length === 1);
  const holder = "SELECT split_part(lease_owner, '-', 1) AS pid FROM executions WHERE id = $1";
  const { rows: held } = await database.query<{ pid: string }>(holder, [runs[0]?.execution_id]);
  const killed = held[0]?.pid === String(first.pid) ? first : second;
  const stops = [await stopped(killed.kill9)];
  models.release(GATE);
  if (lengthOf({ short: true, long: false })) {
    // As if their half minute were over.
    const end =
      "UPDATE executions SET lease_until = now(), run_at = now() WHERE split_part(lease_owner, '-', 1) = $1 AND lease_until > now()";
    expect((await database.query(end, [String(killed.pid)])).rowCount).toBeGreaterThan(0);
  }

  // A schedule that comes due now is fired by two workers that start and one that lives.
  const schedule = { kind: "schedule", cron_expression: "0 9 * * *", default_input: "good morning" };
  const graph = graphOf({ t: ["trigger", schedule], o: ["output"] }, ["t>o"]);
  const { body: daily } = await api.post("/workflows", { name: "Daily", ...graph }, { schema: Workflow, status: 201 });
  await database.query("UPDATE schedules SET next_fire_at = now() - interval '1 second' WHERE workflow_id = $1", [daily.id]);
  await startTwoWorkers();

  const done = async () => {
    const { body } = await api.get("/reviews?status=waiting&per_page=50", { status: 200 });
    for (const { execution_id } of body.items)
      await api.post(`/executions/${execution_id}/approve`, { decision: "approved", comment: COMMENT });
    const { rows } = await database.query<{ status: string }>("SELECT status::text FROM executions WHERE id <> ALL($1::uuid[])", [earlier]);
    return rows.length > runs.length && rows.every(({ status }) => isFinal(status as Execution["status"]));
  };
  await until(done, 120_000);

  const calls = byMessage(models.calls());
  const all = await everyExecution(api);
  let interrupted = 0;
  for (const run of runs) interrupted += (await expectExactCalls(api, { ...run, calls, stops, all })).interrupted;
  expect(interrupted, "the kill interrupted calls").toBeGreaterThan(0);
  const { body: fires } = await api.get(`/workflows/${daily.id}/executions`, { status: 200 });
  expect(fires).toMatchObject([{ trigger: "schedule", status: "completed", input: "good morning" }]);
});
