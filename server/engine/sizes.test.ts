import { expect, test } from "vitest";
import { newRun } from "#server/testing/new-run.ts";

// What a node is given, and what of its failure is kept and told, has bounds that no template and no number of edges gets past.

const MIB = 1024 * 1024;
const LONGEST_ERROR = 10_000;

type Played = ReturnType<typeof newRun>["memory"];
const told = (memory: Played) => memory.commits.flatMap(({ events }) => events);
/** The longest text of an event or an error, and of what a node was given. */
const longest = (memory: Played) => ({
  event: Math.max(...told(memory).map((event) => JSON.stringify(event).length)),
  error: Math.max(...memory.rows().map(({ error }) => error?.length ?? 0), memory.ending()?.error?.length ?? 0),
  input: Math.max(...memory.rows().map(({ input }) => input?.length ?? 0)),
});

test("a text that grows beyond what a node may work with fails the node before it is made", async () => {
  // Made whole, and as JSON, it would be longer than a text can be.
  const { memory, go } = newRun(
    { t: ["triggerNode"], o: ["outputNode", { value: "{{trigger.output}}".repeat(150) }] },
    ["t>o"],
    '"'.repeat(2 * MIB),
  );
  expect(await go()).toEqual({ kind: "over" });
  expect(memory.ending()).toMatchObject({
    status: "failed",
    error: "o: What this node is given has more than the 16.0 MiB that one node may work with: 18.0 MiB at least. Pass on a part.",
  });
  expect(longest(memory).input).toBe(2 * MIB);
});

test("so do the outputs of several nodes together, unless it says itself what it works with", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], a: ["agentNode"], b: ["agentNode"], o: ["outputNode", { value: "mine" }], c: ["agentNode"] },
    ["t>a", "t>b", "a>o", "b>o", "a>c", "b>c", "o>c"],
    "",
    { callAgent: async () => ({ output: "x".repeat(10 * MIB) }) },
  );
  expect(await go()).toEqual({ kind: "over" });
  expect(memory.ending()?.error).toMatch(/^c: What this node is given .*: 20\.0 MiB at least\./);
  expect(longest(memory).input).toBeLessThan(16 * MIB);
  expect(memory.rows().find(({ node_id, status }) => node_id === "o" && status === "complete")?.output).toBe("mine");
});

test.each(["completed", "failed"])(
  "a Terminate node with a long message ends the run as %s, and no list or event bears it whole",
  async (status) => {
    const message = "x".repeat(10 * MIB);
    const { memory, go } = newRun({ t: ["triggerNode"], a: ["agentNode"], z: ["terminateNode", { status }] }, ["t>a", "a>z"], "", {
      callAgent: async () => ({ output: message }),
    });
    await go();
    expect(memory.ending()?.status).toBe(status);
    const { event, error } = longest(memory);
    expect(event).toBeLessThan(2 * LONGEST_ERROR);
    expect(error).toBe(status === "failed" ? LONGEST_ERROR : 0);
    expect(memory.rows().find(({ node_id, status: row }) => node_id === "z" && row === "complete")?.output).toBe(message);
  },
);

test("of a long failure the beginning is kept and told", async () => {
  const { memory, go } = newRun({ t: ["triggerNode"], a: ["agentNode"] }, ["t>a"], "", {
    callAgent: () => Promise.reject(new Error(`Said no: ${"😀".repeat(MIB)}`)),
  });
  await go();
  const errors = [memory.ending()?.error, ...told(memory).flatMap((event) => ("error" in event ? [event.error] : []))];
  expect(errors).toHaveLength(3);
  for (const error of errors) {
    expect(error).toMatch(/Said no: 😀.*…$/u);
    expect(error?.length).toBeLessThanOrEqual(LONGEST_ERROR);
    expect(error?.isWellFormed()).toBe(true);
  }
});
