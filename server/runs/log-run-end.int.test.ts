import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { newClient } from "#server/platform/db/connections.ts";
import { log } from "#server/platform/log.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
const info = vi.spyOn(log, "info");

beforeAll(async () => {
  admin = await database.newAdmin();
});
beforeEach(() => {
  info.mockClear();
  setSettings({ LOG_RUNS: "1" });
});

const graph = graphOf({
  nodes: {
    t: ["triggerNode", { kind: "manual" }],
    a: ["agentNode", { agent_id: "any", retries: 0 }],
    o: ["outputNode", { value: "{{a.output}}" }],
  },
  edges: ["t>a", "a>o"],
});
const lines = () => info.mock.calls.filter(([, message]) => message === "run ended").map(([fields]) => fields);

test("logs the end of a run once, with workflow, status, duration and cost", async () => {
  const id = await startStoredRun(admin, graph);
  const services = storedServices({
    callAgent: async ({ message }) =>
      ({
        output: message,
        agent_id: admin.user.id,
        provider: "openai",
        model: "m",
        cost: 0.25,
        input_tokens: 1,
        output_tokens: 1,
      }) as never,
  });

  await claimAndExecute(services, id, 60);

  const { workflow_id } = await getExecution(admin, { execution_id: id });
  expect(lines()).toEqual([{ execution_id: id, workflow_id, status: "completed", duration_ms: expect.any(Number), cost: 0.25 }]);
});

test("logs a failed run", async () => {
  const id = await startStoredRun(admin, graph);
  await claimAndExecute(storedServices({ callAgent: () => Promise.reject(new Error("hunter2")) }), id, 60);
  expect(lines()).toMatchObject([{ execution_id: id, status: "failed", cost: 0 }]);
  expect(JSON.stringify(lines())).not.toContain("hunter2");
});

test("logs a cancelled run", async () => {
  const id = await startStoredRun(admin, graph);
  await cancelExecution(admin, { execution_id: id });
  expect(lines()).toMatchObject([{ execution_id: id, status: "cancelled", duration_ms: expect.any(Number), cost: 0 }]);
});

test("logs no run with LOG_RUNS=0", async () => {
  setSettings({ LOG_RUNS: "0" });
  const id = await startStoredRun(admin, graph);
  await claimAndExecute(storedServices(), id, 60);
  expect(lines()).toEqual([]);
});

test("an accepted run goes on once space is freed on a full disk", async () => {
  const client = newClient({ connectionString: settings().DATABASE_URL });
  await client.connect();
  const id = await startStoredRun(admin, graph);
  await client.query(`
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON node_runs EXECUTE FUNCTION full_disk()`);
  const store = storedServices().store;
  const tried = vi.fn(store.commit);

  const executed = claimAndExecute(storedServices({ store: { ...store, commit: tried } }), id, 60);
  await expect.poll(() => tried).toHaveBeenCalled();
  await client.query("DROP FUNCTION full_disk CASCADE");
  await executed;

  expect(await getExecution(admin, { execution_id: id })).toMatchObject({ status: "completed", output: "x" });
  await client.end();
});
