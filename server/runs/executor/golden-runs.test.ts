import { describe, expect, it, test } from "vitest";
import { goldens, graphOf, play } from "#server/testing/golden-play.ts";
import { findFaults } from "#server/workflow/graph.ts";

// Golden runs: a graph and what its agents answer → the order in which nodes start, what is skipped, and how it ends.

describe("golden runs", () => {
  it.each(goldens.map((golden) => [golden.about, golden] as const))("%s", async (_, golden) => {
    expect(findFaults(graphOf(golden))).toEqual([]);
    const { memory, inputs, calls, outcome, left } = await play(golden);
    expect({ outcome, left }).toMatchObject({ outcome: { kind: "over" }, left: 0 });
    const events = memory.events();
    const name = (event: { node_id: string; iteration?: string | undefined }) => [event.node_id, event.iteration].filter(Boolean).join(":");
    const started = events.flatMap((event) => (event.type === "node_start" ? [name(event)] : []));
    const skipped = events.flatMap((event) => (event.type === "node_skipped" ? [name(event)] : []));
    const paused = events.flatMap((event) => (event.type === "execution_paused" ? [name(event)] : []));
    expect(started).toEqual(golden.expect.started);
    expect(skipped.sort()).toEqual([...golden.expect.skipped].sort());
    if (golden.expect.paused) expect(paused).toEqual(golden.expect.paused);
    const ending = memory.ending();
    expect(ending?.status).toBe(golden.expect.status);
    expect(ending?.output).toBe(golden.expect.output);
    if (golden.expect.error) expect(ending?.error).toContain(golden.expect.error);
    if (golden.expect.inputs) expect(inputs).toMatchObject(golden.expect.inputs);
    if (golden.expect.calls) expect(calls).toEqual(golden.expect.calls);
    expect(events.filter((event) => event.type === "execution_complete" || event.type === "execution_failed")).toHaveLength(1);
    expect(memory.waiting()).toEqual([]);
  });
});

test("a loop of 1,000 items runs them one after the other, with rows and events for each", async () => {
  const items = Array.from({ length: 1000 }, (_, index) => `item ${index}`);
  const { memory, outcome } = await play({
    input: JSON.stringify(items),
    nodes: {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "{{trigger.output}}" }],
      each: ["outputNode", { value: "{{l.index}}: {{l.current_item}}" }],
    },
    edges: ["t>l", "l.body>each"],
  });
  expect(outcome).toMatchObject({ kind: "over" });
  const values = items.map((item, index) => `${index}: ${item}`);
  expect(JSON.parse(memory.ending()?.output ?? "")).toEqual(values);
  const started = memory.events().flatMap((event) => (event.type === "node_start" && event.node_id === "each" ? [event.iteration] : []));
  expect(started).toEqual(items.map((_, index) => String(index)));
  const progress = memory.events().filter((event) => event.type === "loop_progress");
  expect(progress.at(-1)).toMatchObject({ total: 1000, complete: 1000, failed: 0 });
  expect(progress.length).toBeLessThan(10);
});
