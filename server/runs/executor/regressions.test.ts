import { expect, test, vi } from "vitest";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { newRun } from "#server/testing/new-run.ts";
import { makePlan } from "#server/workflow/compile.ts";

// Each of these has gone wrong once.

test("a review rejected inside a loop still ends the run as rejected after a later segment", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], l: ["loopNode", { items_expression: "[1]" }], r: ["humanLoopNode"], q: ["humanLoopNode"], z: ["outputNode"] },
    ["t>l", "l.body>r", "t>q", "q.approved>z"],
  );
  await go();
  memory.decide("r", "rejected", null, "0");
  await go();
  expect(memory.waiting()).toEqual([{ node_id: "q", iteration: "", reason: "review" }]);
  memory.decide("q", "approved");
  await go();
  expect(memory.ending()?.status).toBe("rejected");
});

test("loops that read each other's output do not wait for each other for ever", async () => {
  const loop: Golden["nodes"][string] = ["loopNode", { items_expression: "[1]" }];
  const { problems } = newRun(
    {
      t: ["triggerNode"],
      A: loop,
      B: loop,
      ya: ["outputNode", { value: "x" }],
      yb: ["outputNode", { value: "x" }],
      za: ["outputNode", { value: "{{B.output}}" }],
      zb: ["outputNode", { value: "{{A.output}}" }],
    },
    ["t>A", "t>B", "A.body>ya", "B.body>yb", "ya>zb", "yb>za", "A.body>za", "B.body>zb"],
  );
  expect(problems()).not.toEqual([]);
});

test("loops whose bodies wait for each other by their edges alone are refused", () => {
  const loop: Golden["nodes"][string] = ["loopNode", { items_expression: "[1]" }];
  const { problems } = newRun({ t: ["triggerNode"], A: loop, B: loop, a: ["outputNode"], b: ["outputNode"], x: ["outputNode"] }, [
    "t>A",
    "t>B",
    "A.body>a",
    "B.done>a",
    "A.done>x",
    "B.body>b",
    "x>b",
  ]);
  expect(problems()).not.toEqual([]);
});

test("an agent's name reads the node that completed, not one that was skipped later", async () => {
  const { memory, problems, go } = newRun(
    {
      t: ["triggerNode"],
      a: ["agentNode", { agent_id: "w", input: "written" }],
      b: ["branchNode", { condition: "False" }],
      c: ["agentNode", { agent_id: "w", input: "again" }],
      z: ["outputNode", { value: "{{Agent w.output}}" }],
    },
    ["t>a", "a>b", "b.true>c", "b.false>z", "c>z"],
  );
  expect(problems()).toEqual([]);
  await go();
  expect(memory.ending()?.output).toBe("written");
});

test("an edge on Rejected that leaves the loop's body is something attached to the rejection", async () => {
  const { memory, problems, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "[1]" }],
      r: ["humanLoopNode"],
      o: ["outputNode", { value: "x" }],
      z: ["outputNode", { value: "after {{l.output}}" }],
    },
    ["t>l", "l.body>r", "r.approved>o", "r.rejected>z"],
  );
  expect(problems()).toEqual([]);
  await go();
  memory.decide("r", "rejected", null, "0");
  await go();
  expect(memory.ending()?.status).toBe("completed");
});

test("a Terminate inside a loop gives its message as the run's output, as one outside does", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], l: ["loopNode", { items_expression: "[1]" }], x: ["terminateNode", { message: "stopped here" }] },
    ["t>l", "l.body>x"],
    "the input",
  );
  await go();
  expect(memory.ending()?.output).toBe("stopped here");
});

test("only an agent may go on after its failure", async () => {
  const { memory, problems, go } = newRun(
    {
      t: ["triggerNode"],
      b: ["branchNode", { condition: "1/0", on_error: "continue" }],
      y: ["outputNode", { value: "y" }],
      n: ["outputNode", { value: "n" }],
    },
    ["t>b", "b.true>y", "b.false>n"],
  );
  expect(problems()).toEqual([]);
  await go();
  expect(memory.ending()?.status).toBe("failed");
});

test("results too long to join end the loop as a failure, not the process", async () => {
  const big = "x".repeat(16 * 1024 * 1024 - 10);
  const { memory, go } = newRun(
    { t: ["triggerNode"], l: ["loopNode", { items_expression: JSON.stringify(Array(40).fill(0)), concurrency: 40 }], a: ["agentNode"] },
    ["t>l", "l.body>a"],
    "",
    { callAgent: async () => ({ output: big }) },
  );
  let status: string | undefined;
  const commit: typeof memory.store.commit = async (_, { ending }) => {
    status ??= ending?.status;
  };
  expect(await go(1e6, { store: { ...memory.store, commit } })).toMatchObject({ kind: "over" });
  expect(status).toBe("failed");
});

test("a segment without time makes progress", async () => {
  const { go, memory } = newRun({ t: ["triggerNode"], o: ["outputNode"] }, ["t>o"]);
  for (let segment = 0; segment < 5 && !memory.ending(); segment++) await go(0);
  expect(memory.ending()?.status).toBe("completed");
});

test("viewers of a run that waits for another review are not left with execution_resumed as the last word", async () => {
  const { memory, go } = newRun({ t: ["triggerNode"], a: ["humanLoopNode"], b: ["humanLoopNode"] }, ["t>a", "t>b"]);
  await go();
  memory.decide("a", "approved");
  expect((await go()).kind).toBe("waiting");
  const types = memory.events().map(({ type }) => type);
  expect(types.findLast((type) => type === "execution_paused" || type === "execution_resumed")).toBe("execution_paused");
});

test("a run in which many wait tells each review once, large ones by their beginning, and after a decision only that it waits again", async () => {
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "[0, 1, 2, 3]", concurrency: 4 }],
      r: ["humanLoopNode", { title: "Item {{l.index}}", display_value: "{{trigger.output}}" }],
    },
    ["t>l", "l>r"],
    "é".repeat(300_000),
  );
  await go();
  const paused = () => memory.events().flatMap((event) => (event.type === "execution_paused" ? [event] : []));
  expect(paused()).toHaveLength(4);
  expect(paused()[3]).toMatchObject({ iteration: "3", title: "Item 3", display_value: "é".repeat(2000), truncated: true });
  memory.decide("r", "approved", "", "0");
  await go();
  memory.decide("r", "approved", "", "1");
  await go();
  expect(paused()).toHaveLength(6);
});

test("a large trigger output is parsed once, not again for each item that reads into it", async () => {
  const items = Array.from({ length: 2000 }, (_, i) => ({ i, text: "lorem ipsum ".repeat(40) }));
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "{{trigger.output.items}}", max_iterations: 100_000 }],
      o: ["outputNode", { value: "{{trigger.output.name}} {{l.current_item.i}}" }],
    },
    ["t>l", "l.body>o"],
    JSON.stringify({ name: "n", items }),
  );
  const parse = vi.spyOn(JSON, "parse");
  await go();
  const large = parse.mock.calls.filter(([text]) => text.length > 500_000).length;
  parse.mockRestore();
  expect(memory.ending()?.status).toBe("completed");
  expect(large).toBeLessThan(10);
});

test("a plan looks at each template a few times, not once for each loop around it", () => {
  const nodes: Golden["nodes"] = { t: ["triggerNode"] };
  const edges: string[] = [];
  for (let i = 0; i < 40; i++) {
    nodes[`l${i}`] = ["loopNode", { items_expression: "[1]" }];
    edges.push(i ? `l${i - 1}.body>l${i}` : "t>l0");
  }
  for (let i = 0; i < 50; i++) {
    nodes[`o${i}`] = ["outputNode", { value: "{{trigger.output}}" }];
    edges.push(i ? `o${i - 1}>o${i}` : "l39.body>o0");
  }
  const graph = graphOf({ nodes, edges });
  const matches = vi.spyOn(String.prototype, "matchAll");
  makePlan(graph);
  const looks = matches.mock.calls.length;
  matches.mockRestore();
  // One look at each is 90 or, with empty fields, a few more.
  expect(looks).toBeLessThan(500);
});

test("what is in the output of a skipped node reads as empty text, as the node does", async () => {
  const { memory, problems, go } = newRun(
    {
      t: ["triggerNode"],
      b: ["branchNode", { condition: "True" }],
      yes: ["outputNode", { value: '{"sum": 1}' }],
      no: ["outputNode", { value: '{"sum": 2}' }],
      z: ["outputNode", { value: "[{{yes.output.sum}}{{no.output.sum}}{{no.output.list[0].id}}]" }],
    },
    ["t>b", "b.true>yes", "b.false>no", "yes>z", "no>z"],
  );
  expect(problems()).toEqual([]);
  await go();
  expect(memory.ending()).toMatchObject({ status: "completed", error: null });
  expect(memory.ending()?.outputs.at(-1)).toMatchObject({ node_id: "z", value: "[1]" });
});

test("two Outputs without a label are both in the run's output, and both ends of a body in an item's result", async () => {
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "[1]" }],
      a: ["outputNode", { label: "", value: "one" }],
      b: ["outputNode", { label: "", value: "two" }],
      z: ["outputNode", { value: "{{l.output}}" }],
    },
    ["t>l", "l.body>a", "l.body>b", "l.done>z"],
  );
  await go();
  expect(JSON.parse(memory.ending()?.output ?? "")).toEqual({
    Output: ["one"],
    "Output 2": ["two"],
    z: [{ Output: "one", "Output 2": "two" }],
  });
});

test("ids of 64 bits go through paths, loops and JSON outputs with all their digits", async () => {
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      p: ["outputNode", { value: "{{trigger.output.id}} {{trigger.output.of}}" }],
      j: ["outputNode", { value: "{{trigger.output}}", format: "json" }],
      l: ["loopNode", { items_expression: "{{trigger.output.ids}}" }],
      i: ["outputNode", { value: "{{l.current_item}}" }],
    },
    ["t>p", "t>j", "t>l", "l.body>i"],
    '{"id":12345678901234567890,"of":{"n":98765432109876543210},"ids":[12345678901234567891]}',
  );
  await go();
  const values = memory.ending()?.outputs.map(({ node_id, value }) => [node_id, value]);
  expect(Object.fromEntries(values ?? [])).toEqual({
    p: '12345678901234567890 {"n":98765432109876543210}',
    j: expect.stringContaining('"id": 12345678901234567890,'),
    i: '["12345678901234567891"]',
  });
});

test("a loop's progress is told after the items that it counts, and before the loop's own end", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], l: ["loopNode", { items_expression: "[1, 2, 3]" }], i: ["outputNode", { value: "{{l.current_item}}" }] },
    ["t>l", "l.body>i"],
  );
  await go();
  const told = memory.events().flatMap((event) => ("node_id" in event && event.node_id !== "t" ? [`${event.type} ${event.node_id}`] : []));
  const item = ["node_start i", "node_complete i"];
  expect(told).toEqual(["node_start l", ...item, ...item, ...item, "loop_progress l", "node_complete l"]);
  const times = memory.events().map(({ timestamp }) => Date.parse(timestamp));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test("an Output, a review and a Terminate whose text comes to nothing say nothing, not what came before", async () => {
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      b: ["branchNode", { condition: "True" }],
      no: ["outputNode", { value: "no" }],
      yes: ["outputNode", { value: "yes" }],
      o: ["outputNode", { value: "{{no.output}}" }],
      r: ["humanLoopNode", { display_value: "{{no.output}}" }],
      p: ["outputNode", { value: "{{r.comment}}" }],
      j: ["outputNode", { value: "{{no.output}}", format: "json" }],
    },
    ["t>b", "b.true>yes", "b.false>no", "yes>o", "no>o", "o>r", "r.approved>p", "p>j"],
  );
  await go();
  const paused = memory.events().find(({ type }) => type === "execution_paused");
  expect(paused).toMatchObject({ display_value: "" });
  memory.decide("r", "approved");
  await go();
  const values = memory.ending()?.outputs.map(({ node_id, value }) => [node_id, value]);
  expect(Object.fromEntries(values ?? [])).toEqual({ yes: "yes", o: "", p: "", j: "" });
});
