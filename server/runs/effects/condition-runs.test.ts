import { expect, test } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const branching = (condition: string): Graph => ({
  nodes: [node("t", "triggerNode"), node("b", "branchNode", { condition }), node("yes", "outputNode"), node("no", "outputNode")],
  edges: [
    { id: "1", source: "t", target: "b" },
    { id: "2", source: "b", target: "yes", sourceHandle: "true" },
    { id: "3", source: "b", target: "no", sourceHandle: "false" },
  ],
});

test("a run goes the way that a condition in its process says, and fails with its sentence", async () => {
  const memory = memoryStore(branching("len(re.findall('a', output)) == 3"), { input: "banana" });
  expect(await claimAndExecute(testServices(memory), "run", 60)).toMatchObject({ kind: "over" });
  expect(memory.ending()).toMatchObject({ status: "completed", outputs: [expect.objectContaining({ node_id: "yes" })] });
  const failing = memoryStore(branching("re.findall('a*b|a', 'a' * 300000)"), { input: "x" });
  await claimAndExecute(testServices(failing), "run", 60);
  expect(failing.ending()).toMatchObject({ status: "failed", error: expect.stringContaining("took too long, and was stopped") });
});

test("a run that is cancelled does not wait for its condition, and writes nothing more", async () => {
  const memory = memoryStore(branching("2 ** 2 == 4"), { input: "x" });
  const asked = Promise.withResolvers<void>();
  let renewals = 0;
  memory.store.renew = async () => {
    renewals++;
    return false;
  };
  let onControl = () => {};
  memory.store.onControl = async (_, callback) => {
    onControl = callback;
    return () => undefined;
  };
  const running = claimAndExecute(
    testServices(memory, {
      // Answers only when it is told to stop waiting.
      evaluate: (_condition, _variables, signalOf) => {
        asked.resolve();
        const signal = signalOf();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    }),
    "run",
    60,
  );
  await asked.promise;
  onControl();
  expect(await running).toEqual({ kind: "yielded" });
  expect(renewals).toBe(1);
  expect(memory.rows().some((row) => row.node_id === "b")).toBe(false);
});
