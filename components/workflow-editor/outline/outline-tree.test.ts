import { expect, test } from "vitest";
import { pathTo, rowsOf } from "#components/workflow-editor/outline/outline-rows.ts";
import { type OutlineItem, outlineOf, stepKey } from "#components/workflow-editor/outline/outline-tree.ts";
import type { Graph } from "#server/workflow/schema.ts";

const TYPES: Record<string, string> = { t: "trigger", b: "branch", l: "loop", h: "humanLoop", n: "note", o: "output", e: "terminate" };

/** Nodes by name, whose first letter tells the type (any other is an agent), and edges as "a>b" or "b.true>c". */
function graphOf(names: string, ways: string, data: Record<string, Record<string, unknown>> = {}): Graph {
  const edges = ways.split(" ").filter(Boolean);
  return {
    nodes: names.split(" ").map((id) => ({
      id,
      type: `${TYPES[id[0] ?? ""] ?? "agent"}Node`,
      position: { x: 0, y: 0 },
      data: { label: id, ...data[id] },
    })),
    edges: edges.map((text) => {
      const [from = "", target = ""] = text.split(">");
      const [source = "", sourceHandle] = from.split(".");
      return { id: text, source, target, ...(sourceHandle && { sourceHandle }) };
    }),
  };
}

/** The outline as lines, two spaces for each level. */
const lines = (items: readonly OutlineItem[], depth = 0): string[] =>
  items.flatMap((item) => {
    const text = item.kind === "step" ? item.nodeId : item.kind === "link" ? `→ ${item.nodeId}` : `[${item.title}]`;
    return [`${"  ".repeat(depth)}${text}`, ...(item.kind === "link" ? [] : lines(item.children, depth + 1))];
  });
const outline = (names: string, ways: string, data?: Record<string, Record<string, unknown>>) =>
  lines(outlineOf(graphOf(names, ways, data))).join("\n");

test("a chain is a list from the trigger on, whatever the order of nodes", () => {
  expect(outline("c a t", "t>a a>c")).toBe("t\na\nc");
});

test("the ways of a branch are groups, and what follows both stands once after them", () => {
  expect(outline("t b a c d", "t>b b.true>a b.false>c a>d c>d")).toBe(
    ["t", "b", "  [If true]", "    a", "    → d", "  [If false]", "    c", "    → d", "d"].join("\n"),
  );
});

test("branches within branches do not end the stack", () => {
  const deep = 2000;
  const names = ["t", ...Array.from({ length: deep }, (_, index) => `b${index} a${index}`)].join(" ");
  const ways = [
    "t>b0",
    ...Array.from({ length: deep }, (_, index) => `b${index}.true>a${index} ${index + 1 < deep ? `a${index}>b${index + 1}` : ""}`),
  ];
  const items = outlineOf(graphOf(names, ways.join(" ")));
  const rows = rowsOf(items, new Set());
  expect(rows.filter(({ item }) => item.kind === "step")).toHaveLength(2 * deep + 1);
  expect(rows.find(({ item }) => item.key === stepKey(`a${deep - 1}`))?.level).toBe(2 * deep + 1);
  expect(pathTo(items, stepKey(`a${deep - 1}`))).toHaveLength(2 * deep);
});

test("a way that leads nowhere is an empty group, one that skips ahead a link", () => {
  expect(outline("t b a d", "t>b b.true>a b.false>d a>d")).toBe(
    ["t", "b", "  [If true]", "    a", "    → d", "  [If false]", "    → d", "d"].join("\n"),
  );
  expect(outline("t b a", "t>b b.false>a")).toBe(["t", "b", "  [If true]", "  [If false]", "    a"].join("\n"));
});

test("a loop holds its body, and what comes after done goes on below it", () => {
  expect(outline("t l a b c d", "t>l l.body>b b.true>a b.false>c l.done>d")).toBe(
    ["t", "l", "  [For each item]", "    b", "      [If true]", "        a", "      [If false]", "        c", "d"].join("\n"),
  );
});

test("a node that the body leads to but that reads the loop's output is no part of the body", () => {
  const reads = { d: { input: "{{l.output}}" } };
  expect(outline("t l a d", "t>l l.body>a a>d", reads)).toBe(["t", "l", "  [For each item]", "    a", "    → d", "d"].join("\n"));
});

test("paths side by side are groups, and where they meet is told", () => {
  const items = outlineOf(graphOf("t a c d", "t>a t>c a>d c>d"));
  expect(lines(items).join("\n")).toBe(["t", "  [Path 1 of 2]", "    a", "    → d", "  [Path 2 of 2]", "    c", "    → d", "d"].join("\n"));
  expect(items.at(-1)).toMatchObject({ kind: "step", nodeId: "d", joins: ["a", "c"] });
});

test("what no path leads to stands apart, with links to where it would go on, and so do notes", () => {
  expect(outline("t a x y n", "t>a x>y y>a")).toBe(["t", "a", "[Not connected]", "  x", "  y", "  → a", "[Notes]", "  n"].join("\n"));
});

test("a circle, which only a broken draft has, is shown all the same, each node once", () => {
  expect(outline("t x y", "x>y y>x")).toBe(["t", "[Not connected]", "  x", "  y", "  → x"].join("\n"));
  expect(outline("t x y", "t>x x>y y>x")).toBe(["t", "x", "y", "→ x"].join("\n"));
});

test("each node of a large random graph stands in the outline exactly once", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  for (let round = 0; round < 40; round++) {
    const names = ["t", ...Array.from({ length: 60 }, (_, index) => `${["a", "b", "l", "o"][random(4)]}${index}`)];
    const ways = new Set<string>();
    for (let index = 1; index < names.length; index++)
      for (let count = random(3); count >= 0; count--) {
        const source = names[random(index)] ?? "t";
        const handle = source.startsWith("b")
          ? [".true", ".false"][random(2)]
          : source.startsWith("l")
            ? [".body", ".done"][random(2)]
            : "";
        ways.add(`${source}${handle}>${names[index]}`);
      }
    const flat = (items: readonly OutlineItem[]): OutlineItem[] =>
      items.flatMap((item) => [item, ...(item.kind === "link" ? [] : flat(item.children))]);
    const items = flat(outlineOf(graphOf(names.join(" "), [...ways].join(" "))));
    const steps = items.flatMap((item) => (item.kind === "step" ? [item.nodeId] : []));
    expect(steps.toSorted()).toEqual(names.toSorted());
    const keys = items.map((item) => item.key);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test("a workflow as long as may be is one long list", () => {
  const names = ["t", ...Array.from({ length: 1999 }, (_, index) => `a${index}`)];
  const ways = names.slice(1).map((name, index) => `${names[index]}>${name}`);
  expect(outlineOf(graphOf(names.join(" "), ways.join(" ")))).toHaveLength(2000);
});
