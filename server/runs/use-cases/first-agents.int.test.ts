import { expect, onTestFinished, test, vi } from "vitest";
import { createAgent } from "#server/features/agents/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { registerWorker } from "#server/runs/local-worker.ts";
import { MOMENT_MS } from "#server/runs/use-cases/inline-run.ts";
import { agentChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();

test("the agent that a run calls first is read with the beginning of its attempt, any other one when its turn comes", async () => {
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const newAgent = async (name: string) => (await createAgent(admin, { name, model: "echo", llm_key_id })).id;
  const [first, second] = [await newAgent("One"), await newAgent("Two")];
  const { id: workflow_id } = await createWorkflow(admin, { name: "Two agents", ...agentChain([first, second]) });
  models.reset();
  const over = Promise.withResolvers<void>();
  const reserve = () => (work: () => Promise<void>) => void work().then(over.resolve, over.reject);
  onTestFinished(
    registerWorker(pool(), { services: engineServices, held: new Set(), reserve, poke: () => false, hasFreeSlot: () => true }),
  );

  // What was read is taken for a second, which a busy machine may need for it.
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  // A busy machine may need more than a moment until the run has something to write.
  const { setTimeout: later } = globalThis;
  const never = ((callback: () => void, ms?: number, ...rest: unknown[]) =>
    later(ms === MOMENT_MS ? () => undefined : callback, ms, ...rest)) as typeof setTimeout; // cast: without the form that promises
  const timeouts = vi.spyOn(globalThis, "setTimeout").mockImplementation(never);
  onTestFinished(() => timeouts.mockRestore());
  const query = vi.spyOn(pool(), "query");
  const { execution_id } = await executeWorkflow(admin, { workflow_id });
  await over.promise;
  const statements = query.mock.calls.map(([statement]) => Object(statement));
  const asked = (name: string) => statements.filter((statement) => statement.name === name);
  expect(asked("find-agent").map(({ values }) => values[0])).toEqual([second]);
  // Their names came with the workflow.
  expect(asked("agent-names")).toEqual([]);
  expect(models.calls()).toHaveLength(2);
  expect(await db().execution.findUnique({ where: { id: execution_id } })).toMatchObject({ status: "completed" });
});
