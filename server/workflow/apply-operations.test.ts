import { expect, test } from "vitest";
import { times } from "#server/testing/times.ts";
import { applyOperations } from "#server/workflow/apply-operations.ts";
import { findFaults } from "#server/workflow/graph.ts";
import { bodiesOf, framesIn } from "#server/workflow/layout/loop-frames.ts";
import { overlapsIn } from "#server/workflow/layout/place.ts";
import { Operation } from "#server/workflow/operations.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, x = 0, y = 0, data: Record<string, unknown> = {}) => ({
  id,
  type: `${type}Node`,
  position: { x, y },
  data: { label: id, ...data },
});
const edge = (from: string, target: string) => {
  const [source = "", sourceHandle] = from.split(".");
  return { id: `${from}-${target}`, source, target, ...(sourceHandle && { sourceHandle }) };
};
const add = (id: string, type: string, data: Record<string, unknown> = {}, more: object = {}): Operation => ({
  op: "add_node",
  node: { id, type: `${type}Node`, data: { label: id, ...data }, ...more },
});
const connect = (from: string, target: string): Operation => {
  const [source = "", source_handle] = from.split(".");
  return { op: "connect", source, target, ...(source_handle && { source_handle }) };
};
const disconnect = (from: string, target: string): Operation => ({ ...connect(from, target), op: "disconnect" }) as Operation;

/** A trigger, an agent and an output in a row. */
const ROW: Graph = {
  nodes: [node("start", "trigger"), node("write", "agent", 330), node("end", "output", 660, 0, { value: "{{write.output}}" })],
  edges: [edge("start", "write"), edge("write", "end")],
};
const drawing = (graph: Graph) => ({
  nodes: graph.nodes.map(({ id, type, position }) => ({ id, type, position })),
  edges: graph.edges,
  data: Object.fromEntries(graph.nodes.map(({ id, data }) => [id, data])),
});
function done(base: Graph, ...operations: Operation[]): Graph {
  const result = applyOperations(base, operations);
  if ("faults" in result) throw new Error(result.faults.map(({ message }) => message).join("\n"));
  expect(findFaults(result.graph)).toEqual([]);
  return result.graph;
}
function refused(base: Graph, ...operations: Operation[]): string[] {
  const result = applyOperations(base, operations);
  return "faults" in result ? result.faults.map(({ index, message }) => `${index}: ${message}`) : [];
}
const at = (graph: Graph, id: string) => graph.nodes.find((one) => one.id === id)?.position;

test("a workflow is built from nothing but a trigger, from left to right, and the trigger stays where it is", () => {
  const base: Graph = { nodes: [node("start", "trigger", 100, 50)], edges: [] };
  const built = done(
    base,
    add("ask", "agent", { input: "{{trigger.output}}" }),
    add("check", "branch", { condition: '"yes" in output' }),
    add("yes", "output"),
    add("no", "output"),
    connect("start", "ask"),
    connect("ask", "check"),
    connect("check.true", "yes"),
    connect("check.false", "no"),
  );
  expect(at(built, "start")).toEqual({ x: 100, y: 50 });
  expect(["start", "ask", "check", "yes"].map((id) => at(built, id)?.x)).toEqual([100, 430, 760, 1090]);
  expect(at(built, "no")?.x).toBe(1090);
  expect(at(built, "yes")?.y).toBeLessThan(at(built, "no")?.y ?? 0);
  expect(built.nodes.find(({ id }) => id === "ask")?.data).toMatchObject({ retries: 2, on_error: "fail" });
});

test("a node put between two others takes their row, and only what follows moves", () => {
  const built = done(
    ROW,
    disconnect("write", "end"),
    add("review", "humanLoop"),
    connect("write", "review"),
    connect("review.approved", "end"),
  );
  expect([at(built, "start"), at(built, "write")]).toEqual([at(ROW, "start"), at(ROW, "write")]);
  expect(at(built, "review")).toEqual({ x: 660, y: 0 });
  expect(at(built, "end")).toEqual({ x: 990, y: 0 });
});

test("branches go one below the other, and nothing that is there moves for them", () => {
  const built = done(ROW, add("a", "agent"), add("b", "agent"), connect("start", "a"), connect("start", "b"));
  for (const { id, position } of ROW.nodes) expect(at(built, id)).toEqual(position);
  const [a, b] = [at(built, "a"), at(built, "b")];
  expect([a?.x, b?.x]).toEqual([330, 330]);
  expect(a?.y).toBeGreaterThanOrEqual(120);
  expect(b?.y).toBeGreaterThanOrEqual((a?.y ?? 0) + 120);
});

test("a loop comes with its body in its frame, and a body that grows pushes what stands around it", () => {
  const looped = done(
    ROW,
    disconnect("write", "end"),
    add("each", "loop", { items_expression: "{{write.output}}" }),
    add("work", "agent", {}, { parentId: "each" }),
    connect("write", "each"),
    connect("each.body", "work"),
    connect("each.done", "end"),
  );
  const bodies = bodiesOf(drawing(looped));
  expect(bodies.owner).toEqual({ work: "each" });
  const frame = framesIn(drawing(looped), bodies).get("each");
  expect(at(looped, "each")).toEqual({ x: frame?.x, y: frame?.y });
  expect(at(looped, "end")?.x).toBeGreaterThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0));
  const grown = done(looped, add("more", "agent", {}, { parentId: "each" }), connect("work", "more"));
  const wide = framesIn(drawing(grown)).get("each");
  expect(at(grown, "end")?.x).toBeGreaterThanOrEqual((wide?.x ?? 0) + (wide?.width ?? 0));
  expect(wide?.width).toBeGreaterThan(frame?.width ?? 0);
  expect(overlapsIn(drawing(grown)).size).toBe(0);
});

test("nodes that a new loop takes into its body move into its frame", () => {
  const built = done(
    ROW,
    disconnect("start", "write"),
    disconnect("write", "end"),
    add("each", "loop", { items_expression: "[1]" }),
    connect("start", "each"),
    connect("each.body", "write"),
    { op: "update_node", id: "end", data: { value: "{{each.output}}" } },
    connect("each.done", "end"),
  );
  expect(bodiesOf(drawing(built)).owner).toEqual({ write: "each" });
  expect(at(built, "each")?.x).toBe(330);
  expect(overlapsIn(drawing(built)).size).toBe(0);
});

test("fields are set, taken away and checked; a new label is followed by what reads the node", () => {
  const built = done(ROW, { op: "update_node", id: "write", data: { label: "Writer", input: "Hi", retries: null } });
  expect(built.nodes.find(({ id }) => id === "write")?.data).toEqual({ label: "Writer", input: "Hi" });
  expect(built.nodes.find(({ id }) => id === "end")?.data.value).toBe("{{Writer.output}}");
  expect(ROW.nodes[1]?.data.label).toBe("write");
});

test("arrange sets everything out; a place that was asked for is kept where it is free, a note goes above the flow", () => {
  const crossed: Graph = { ...ROW, nodes: ROW.nodes.map((one, index) => ({ ...one, position: { x: 900 - 330 * index, y: 0 } })) };
  const arranged = done(crossed, { op: "arrange" });
  expect(["start", "write", "end"].map((id) => at(arranged, id)?.x)).toEqual([240, 570, 900]);
  expect(at(done(ROW, add("free", "agent", {}, { position: { x: 0, y: 400 } })), "free")).toEqual({ x: 0, y: 400 });
  expect(at(done(ROW, add("free", "agent", {}, { position: { x: 340, y: 10 } })), "free")).not.toEqual({ x: 340, y: 10 });
  const noted = done(ROW, { op: "add_node", node: { id: "n", type: "noteNode", data: { content: "Hello" } } });
  expect(at(noted, "n")?.y).toBeLessThan(-100);
});

test("what is wrong is said for each operation, once, so that it can be mended", () => {
  const cases: [Operation[], RegExp[]][] = [
    [
      [add("write", "agent")],
      [/^0: There is a node with the id "write" already: "write". Change it by update_node, or choose another id\.$/],
    ],
    [[add("x", "agnt")], [/^0: "agntNode" is no type of node\. Did you mean "agentNode"\? Types: agentNode, /]],
    [[add("x", "agent", { agentid: "1" })], [/^0: agentNode has no field "agentid"\. Did you mean "agent_id"\? Its fields: label, /]],
    [
      [add("x", "agent", { retries: 9, on_error: "stop" })],
      [/^0: retries: This must be at most 5\. on_error: Use one of: fail, continue\.$/],
    ],
    [[add("x", "agent", { label: "write" })], [/^0: label: "write" is the label of node "write" already/]],
    [[add("x", "agent", { label: "a {b}" })], [/^0: label: text of 1 to 120 characters without braces/]],
    [[add("t", "trigger")], [/^null: The workflow has 2 triggers \(start, t\)\. Keep exactly one\.$/]],
    [[{ op: "remove_node", id: "start" }], [/^null: The workflow has no trigger/]],
    [
      [{ op: "remove_node", id: "writ" }],
      [/^0: There is no node with the id "writ"\. Did you mean "write"\? Ids in this workflow: start, write, end\.$/],
    ],
    [[{ op: "update_node", id: "nobody", data: {} }], [/^0: There is no node with the id "nobody"/]],
    [[{ op: "update_node", id: "end", data: { label: "start" } }], [/^0: label: "start" is the label of node "start"/]],
    [[{ op: "update_node", id: "end", data: { format: "pdf" } }], [/^0: format: Use one of: passthrough, json, markdown\.$/]],
    [[connect("end", "write")], [/^0: This would make a circle: "write" already leads to "end"/]],
    [[connect("write", "start")], [/^0: Nothing can lead into the trigger\.$/]],
    [[connect("write.yes", "end")], [/^0: "write" has no way out named "yes"\.$/]],
    [[add("b", "branch"), connect("write", "b"), connect("b", "end")], [/^2: Say which way out of "b" it leaves: true or false\.$/]],
    [[disconnect("start", "end")], [/^0: There is no such connection\. From "start" lead: → write\.$/]],
    [[add("x", "agent", {}, { parentId: "write" })], [/^0: parentId: "write" is no loop/]],
    [
      [add("l", "loop"), connect("start", "l"), add("x", "agent", {}, { parentId: "l" }), connect("write", "x")],
      [/^2: "x" is to stand in the loop "l", but it is not in its body: connect \{source: "l", source_handle: "body", target: "x"\}/],
    ],
    // What follows from a fault is no second one.
    [[add("x", "agent", { retries: 9 }), connect("write", "x"), connect("x", "end")], [/^0: retries/]],
    [
      [connect("no", "write"), connect("write", "gone")],
      [/^0: /, /^1: /],
    ],
  ];
  for (const [operations, words] of cases) {
    expect(Operation.array().safeParse(operations).success).toBe(true);
    const faults = refused(ROW, ...operations);
    expect(faults).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(faults[index]).toMatch(word);
  }
});

test("connecting what is connected changes nothing, and the way into a body may be left out", () => {
  expect(done(ROW, connect("start", "write"))).toEqual(ROW);
  const built = done(ROW, add("l", "loop"), add("x", "agent"), connect("write", "l"), connect("l", "x"), connect("l.body", "x"));
  expect(built.edges.filter(({ source }) => source === "l")).toMatchObject([{ sourceHandle: "body", target: "x" }]);
});

/** Numbers from 0 to 1, the same at each run. */
function dice(seed: number) {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test("whatever operations are done on whatever graph, it stays one that can be saved, and nothing comes to cover something else", {
  timeout: times(15_000),
}, () => {
  let [taken, refusals] = [0, 0];
  for (let seed = 1; seed <= times(12); seed++) {
    const random = dice(seed);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    let graph: Graph = { nodes: [node("start", "trigger")], edges: [] };
    let count = 0;
    for (let turn = 0; turn < 10; turn++) {
      const ids = graph.nodes.map(({ id }) => id);
      const operations: Operation[] = [];
      const join = (source: string, type: string | undefined, target: string) => {
        const way = type === "branchNode" ? pick(["true", "false"]) : type === "humanLoopNode" ? pick(["approved", "rejected"]) : "";
        operations.push(connect(type === "loopNode" ? `${source}.${pick(["body", "done"])}` : way ? `${source}.${way}` : source, target));
      };
      const types = new Map(graph.nodes.map(({ id, type }) => [id, type]));
      for (let step = 0; step < 1 + random() * 6; step++) {
        const kind = random();
        const id = `n${++count}`;
        if (kind < 0.5) {
          const type = pick(["agent", "agent", "branch", "loop", "output", "humanLoop", "note", "terminate"]);
          operations.push(
            add(id, type, {}, random() < 0.1 ? { position: { x: Math.round(random() * 900), y: Math.round(random() * 400) } } : {}),
          );
          const from = pick(ids);
          if (type !== "note") join(from, types.get(from), id);
          types.set(id, `${type}Node`);
          ids.push(id);
        } else if (kind < 0.6 && graph.edges.length > 0) {
          const old = pick(graph.edges);
          operations.push(disconnect(`${old.source}${old.sourceHandle ? `.${old.sourceHandle}` : ""}`, old.target));
          operations.push(add(id, "agent"));
          join(old.source, types.get(old.source), id);
          operations.push(connect(id, old.target));
        } else if (kind < 0.85) {
          const [source, target] = [pick(ids), pick(ids)];
          join(source, types.get(source), target);
        } else if (kind < 0.95) operations.push({ op: "remove_node", id: pick(ids) });
        else if (kind < 0.97) operations.push({ op: "arrange" });
      }
      const before = overlapsIn(drawing(graph));
      const frozen = JSON.stringify(graph);
      // Whichever of them can be done.
      const possible: Operation[] = [];
      for (const operation of operations) if ("graph" in applyOperations(graph, [...possible, operation])) possible.push(operation);
      refusals += operations.length - possible.length;
      taken += possible.length;
      const result = applyOperations(graph, possible);
      expect(JSON.stringify(graph)).toBe(frozen);
      if (!("graph" in result)) throw new Error("refused");
      expect(findFaults(result.graph)).toEqual([]);
      expect([...overlapsIn(drawing(result.graph))].filter((pair) => !before.has(pair))).toEqual([]);
      graph = result.graph;
    }
  }
  expect(taken).toBeGreaterThan(times(250));
  expect(refusals).toBeGreaterThan(times(25));
});

test("a connection from a wait that names no way out is made by done, once, and is taken away without a name too", () => {
  const waits = done(
    ROW,
    add("hold", "wait", { mode: "callback" }),
    connect("write", "hold"),
    connect("hold", "end"),
    connect("hold.done", "end"),
  );
  expect(waits.edges.filter(({ source }) => source === "hold").map(({ sourceHandle }) => sourceHandle)).toEqual(["done"]);
  expect(done(waits, disconnect("hold", "end")).edges.filter(({ source }) => source === "hold")).toEqual([]);
});

test("at most ten unknown fields are explained", () => {
  const data = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`${index}${"x".repeat(10_000)}`, 1]));

  const [message = ""] = refused(ROW, { op: "update_node", id: "write", data });

  expect(message.match(/has no field/g)).toHaveLength(10);
  expect(message.length).toBeLessThan(10_000);
});
