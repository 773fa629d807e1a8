import { afterEach, beforeEach, expect, test } from "vitest";
import { setSettings } from "#server/platform/settings.ts";
import { memoryAccount } from "#server/runs/memory-account.ts";
import { newRun } from "#server/testing/new-run.ts";

const LIMIT = 1_000_000;
const other = { id: "other", holder: "other" };

beforeEach(() => setSettings({ RUN_MEMORY_BYTES: String(LIMIT) }));
afterEach(() => {
  memoryAccount.release(other, false);
  memoryAccount.release({ id: "run", holder: "test" }, false);
  setSettings({ RUN_MEMORY_BYTES: "" });
});

/** Fills the account with a run that may exceed its share. */
const fill = () => expect(memoryAccount.reserve(other, LIMIT)).toBe(true);
const text = (kilobytes: number) => "x".repeat(kilobytes * 1000);

/** Five agents side by side, which answer 100 kB each, before an Output. */
function parallelRun() {
  const ids = ["a", "b", "c", "d", "e"];
  const calls: string[] = [];
  const gate = Promise.withResolvers<void>();
  const played = newRun(
    {
      t: ["triggerNode"],
      ...Object.fromEntries(ids.map((id) => [id, ["agentNode", { input: id }]])),
      o: ["outputNode", { value: "done" }],
    },
    [...ids.map((id) => `t>${id}`), ...ids.map((id) => `${id}>o`)],
    "",
    {
      callAgent: async ({ agent_id }) => {
        calls.push(agent_id);
        await gate.promise;
        return { output: text(100) };
      },
    },
  );
  return { ...played, calls, open: gate.resolve };
}

test("a run without room is deferred", async () => {
  fill();
  const { go, open } = parallelRun();
  open();

  expect(await go()).toEqual({ kind: "busy", seconds: expect.any(Number) });
  expect(memoryAccount.bytes).toBe(LIMIT);
});

test("a deferred run keeps the results of its calls", async () => {
  fill();
  const { go, open, memory, calls } = parallelRun();
  open();
  await go();

  memoryAccount.release(other, false);

  expect(await go()).toMatchObject({ kind: "over" });
  expect(memory.ending()).toMatchObject({ status: "completed", output: "done" });
  expect(calls.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
});

test("results that arrive while a run leaves memory are not held", async () => {
  fill();
  const { go, open } = parallelRun();
  const going = go();
  let most = 0;
  const { record } = memoryAccount;
  memoryAccount.record = function (...args) {
    const hasRoom = record.apply(this, args);
    most = Math.max(most, this.bytes);
    return hasRoom;
  };
  open();
  await going;
  memoryAccount.record = record;

  expect(most).toBeLessThan(LIMIT + 350_000);
});

test("a run without room starts no further node", async () => {
  const fields = [{ name: "text", value: "{{trigger.output}}", type: "text" }];
  const ids = Array.from({ length: 8 }, (_, index) => `s${index}`);
  fill();
  const { go, memory } = newRun(
    { t: ["triggerNode"], ...Object.fromEntries(ids.map((id) => [id, ["setNode", { fields }]])), o: ["outputNode", { value: "done" }] },
    [...ids.map((id) => `t>${id}`), ...ids.map((id) => `${id}>o`)],
    text(100),
  );
  expect((await go()).kind).toBe("busy");
  const complete = () => new Set(memory.rows().flatMap(({ node_id, status }) => (status === "complete" ? [node_id] : [])));
  expect(complete().size).toBeLessThan(5);

  memoryAccount.release(other, false);

  expect(await go()).toMatchObject({ kind: "over" });
  expect(complete().size).toBe(10);
});

test("a run that alone exceeds the limit fails with the limit", async () => {
  const { go, memory } = newRun(
    { t: ["triggerNode"], a: ["agentNode", { input: "x" }], b: ["agentNode", { input: "y" }] },
    ["t>a", "a>b"],
    "",
    {
      callAgent: async () => ({ output: text(600) }),
    },
  );

  expect(await go()).toMatchObject({ kind: "over" });
  expect(memory.ending()).toMatchObject({
    status: "failed",
    error: expect.stringContaining("more than the 1.0 MiB that one run may have"),
  });
});

test("a run that has ended holds nothing", async () => {
  const { go, open } = parallelRun();
  open();

  expect(await go()).toMatchObject({ kind: "over" });
  expect(memoryAccount.bytes).toBe(0);
});
