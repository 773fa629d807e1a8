import { expect, test, vi } from "vitest";
import { TimeSlice } from "#server/platform/time-slice.ts";
import { type Held, RunSize } from "#server/runs/executor/run-size.ts";
import { newRun } from "#server/testing/new-run.ts";
import { ExpressionError, type LongReads, readLong } from "#server/workflow/resolve-expressions.ts";

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
  expect(await go()).toMatchObject({ kind: "over" });
  expect(memory.ending()).toMatchObject({
    status: "failed",
    error: "o: What this node is given has more than the 16.0 MiB that one node may work with: 18.0 MiB at least. Pass on a part.",
  });
  expect(longest(memory).input).toBe(2 * MIB);
});

test("the fields of one node have that bound together, for a hundred of them would end the process", async () => {
  const fields = Array.from({ length: 20 }, (_, index) => ({ name: `f${index}`, value: "{{trigger.output}}" }));
  const { memory, go } = newRun({ t: ["triggerNode"], s: ["setNode", { fields }] }, ["t>s"], "x".repeat(MIB));
  expect(await go()).toMatchObject({ kind: "over" });
  expect(memory.ending()?.error).toMatch(/^s: What this node is given .*: 17\.0 MiB at least\./);
});

test("what the filters of one node go through has that bound together", async () => {
  const fields = Array.from({ length: 14 }, (_, index) => `f${index}`);
  const text = (name: string) => JSON.stringify({ x: 1, name, long: "y".repeat(MIB) });
  const filtered = fields.map((name) => `{{trigger.output.${name}${" | upper | lower".repeat(5)}}}`).join("");
  const read = fields.map((name) => `{{trigger.output.${name}.x}}`).join("");
  const { memory, go } = newRun(
    { t: ["triggerNode"], few: ["outputNode", { value: read.repeat(50) }], o: ["outputNode", { value: filtered }] },
    ["t>few", "few>o"],
    JSON.stringify(Object.fromEntries(fields.map((name) => [name, text(name)]))),
  );

  expect(await go()).toMatchObject({ kind: "over" });

  expect(memory.ending()?.error).toContain("on too much here");
  expect(memory.rows().find(({ node_id, status }) => node_id === "few" && status === "complete")?.output).toBe("1".repeat(700));
});

test("so do the outputs of several nodes together, unless it says itself what it works with", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], a: ["agentNode"], b: ["agentNode"], o: ["outputNode", { value: "mine" }], c: ["agentNode"] },
    ["t>a", "t>b", "a>o", "b>o", "a>c", "b>c", "o>c"],
    "",
    { callAgent: async () => ({ output: "x".repeat(10 * MIB) }) },
  );
  expect(await go()).toMatchObject({ kind: "over" });
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

const big = (mib: number) => "x".repeat(mib * MIB);

test.each(["fail", "continue"])(
  "Outputs inside a loop count, whatever the item comes to, and end the run before the rest is paid for (%s)",
  async (on_item_error) => {
    const asked = { a: 0, z: 0 };
    const { memory, go } = newRun(
      {
        t: ["triggerNode"],
        l: ["loopNode", { items_expression: JSON.stringify(Array.from({ length: 30 }, (_, index) => index)), on_item_error }],
        a: ["agentNode", { input: "go" }],
        o: ["outputNode", { value: "{{a.output}}" }],
        z: ["agentNode", { input: "go" }],
      },
      ["t>l", "l.body>a", "a>o", "o>z"],
      "",
      {
        callAgent: async ({ agent_id }) => {
          asked[agent_id as "a" | "z"]++;
          return { output: agent_id === "a" ? big(8) : "ok" };
        },
      },
    );
    expect(await go()).toMatchObject({ kind: "over" });
    expect(memory.ending()?.error).toMatch(/^The results of the run have 136\.0 MiB together/);
    expect(asked).toEqual({ a: 17, z: 16 });
  },
);

test("what a run holds has a bound over all its nodes and the items under way; what ended items held does not count", () => {
  const half = big(8);
  const rows = (count: number) => new Map(Array.from({ length: count }, (_, index) => [`n${index}`, { output: half }]));
  const active = new Map<number, Held>();
  const size = new RunSize(
    newRun({ t: ["triggerNode"] }, []).memory.run,
    { rows: rows(40), loops: [{ row: { input: big(4) }, size: 4 * MIB, active }] },
    () => 16 * MIB,
  ); // 344 of 512
  /** How many nodes of an item have room, and why the next one has none. */
  const play = (item: number, nodes: number) => {
    const mine = rows(0);
    active.clear();
    active.set(item, { rows: mine, loops: [] });
    for (let node = 0; node < nodes; node++) {
      const refusal = size.refusalOf(half);
      if (refusal) return [node, refusal];
      mine.set(`n${node}`, { output: half });
    }
    return [nodes];
  };
  for (let item = 0; item < 50; item++) expect(play(item, 10)).toEqual([10]);
  const refusal = "The results of the run have 520.0 MiB together, more than the 512.0 MiB that one run may have. Keep less of it.";
  expect(play(50, 30)).toEqual([21, refusal]);
  active.clear();
  expect(size.refusalOf(half)).toBeUndefined();
});

test("Outputs inside a loop count for a run that goes on after somebody was waited for", async () => {
  const items = JSON.stringify(Array.from({ length: 12 }, (_, index) => index));
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: items }],
      a: ["agentNode", { input: "go" }],
      o: ["outputNode", { value: "{{a.output}}" }],
      z: ["agentNode", { input: "short" }],
      r: ["humanLoopNode"],
      g: ["agentNode", { input: "short" }],
      m: ["loopNode", { items_expression: items }],
      b: ["agentNode", { input: "go" }],
      p: ["outputNode", { value: "{{b.output}}" }],
      y: ["agentNode", { input: "short" }],
    },
    ["t>l", "l.body>a", "a>o", "o>z", "l.done>r", "r.approved>g", "g>m", "m.body>b", "b>p", "p>y"],
    "",
    { callAgent: async ({ message }) => ({ output: message === "go" ? big(6) : "ok" }) },
  );
  expect((await go()).kind).toBe("waiting");
  memory.decide("r", "approved");
  expect(await go()).toMatchObject({ kind: "over" });
  expect(memory.ending()?.error).toMatch(/^The results of the run have 132\.0 MiB together/);
});

test.each([
  [8, "completed"],
  [10, "failed"],
] as const)("of %i large Outputs outside of loops each counts once", async (count, status) => {
  const ids = Array.from({ length: count }, (_, index) => `o${index}`);
  const outputs = Object.fromEntries(ids.map((id): [string, [string, object]] => [id, ["outputNode", { value: "{{a.output}}" }]]));
  const { memory, go } = newRun({ t: ["triggerNode"], a: ["agentNode"], ...outputs }, ["t>a", ...ids.map((id) => `a>${id}`)], "", {
    callAgent: async () => ({ output: big(14) }),
  });
  await go();
  expect(memory.ending()?.status).toBe(status);
});

test("a long text is read outside of the executor, once for all expressions of a node", async () => {
  const list = JSON.stringify(Array.from({ length: 60_000 }, (_, index) => index));
  const requests: LongReads[] = [];
  const { memory, go } = newRun(
    { t: ["triggerNode"], o: ["outputNode", { value: `${"{{trigger.output | length}} ".repeat(5)}{{trigger.output[1]}}` }] },
    ["t>o"],
    list,
    {
      readLong: async (reads) => {
        requests.push(reads);
        return readLong(reads);
      },
    },
  );

  expect(await go()).toMatchObject({ kind: "over" });

  expect(memory.ending()?.output).toBe(`${"60000 ".repeat(5)}1`);
  expect(requests).toEqual([{ texts: [list], reads: [expect.anything(), expect.anything()] }]);
});

test("items of a loop that read the same in a long text have it read once", async () => {
  let count = 0;
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "[1,2,3]" }],
      s: ["outputNode", { value: "{{l.current_item}} of {{trigger.output | length}}" }],
    },
    ["t>l", "l.body>s"],
    "x".repeat(MIB),
    {
      readLong: async (reads) => {
        count++;
        return readLong(reads);
      },
    },
  );

  expect(await go()).toMatchObject({ kind: "over" });

  expect(memory.ending()?.output).toContain("3 of 1048576");
  expect(count).toBe(1);
});

test("a long text is read in a process of its own", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], o: ["outputNode", { value: '{{trigger.output | replace("a", "bb") | length}}' }] },
    ["t>o"],
    "a".repeat(MIB),
  );

  expect(await go()).toMatchObject({ kind: "over" });

  expect(memory.ending()?.output).toBe(String(2 * MIB));
});

test("a node whose long text takes too long to read fails with the reason", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], o: ["outputNode", { value: "{{trigger.output | upper}}" }] },
    ["t>o"],
    "a".repeat(MIB),
    {
      readLong: () => Promise.reject(new ExpressionError("The expressions of this node took too long.")),
    },
  );

  expect(await go()).toMatchObject({ kind: "over" });

  expect(memory.ending()).toMatchObject({ status: "failed", error: "o: The expressions of this node took too long." });
});

test.each([
  ["leaves no turn to the event loop while the clock stands still", 0, 0],
  ["leaves a turn to the event loop after each node that takes ten milliseconds", 10, 100],
])("a run %s", async (_, step, least) => {
  const names = Array.from({ length: 100 }, (__, index) => `n${index}`);
  const { go } = newRun(
    { t: ["triggerNode"], ...Object.fromEntries(names.map((name) => [name, ["outputNode", { value: "x" }]])) },
    names.map((name) => `t>${name}`),
    "",
  );
  await new Promise(setImmediate); // a turn of the event loop without time of another clock
  let time = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => (time += step));
  const turns = vi.spyOn(TimeSlice.prototype, "next");

  await go();
  const { length } = turns.mock.calls;
  vi.restoreAllMocks();

  expect(length).toBeGreaterThanOrEqual(least);
  if (step === 0) expect(length).toBe(0);
});
