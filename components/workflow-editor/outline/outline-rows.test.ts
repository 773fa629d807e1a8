import { expect, test } from "vitest";
import { pathTo, rowsOf, typeAhead } from "#components/workflow-editor/outline/outline-rows.ts";
import type { OutlineItem } from "#components/workflow-editor/outline/outline-tree.ts";

const step = (key: string): OutlineItem => ({ kind: "step", key, nodeId: key, type: "agentNode", joins: [], children: [] });
const items: OutlineItem[] = [
  step("a"),
  {
    kind: "step",
    key: "b",
    nodeId: "b",
    type: "branchNode",
    joins: [],
    children: [{ kind: "group", key: "yes", title: "If true", way: { nodeId: "b", handle: "true" }, children: [step("c"), step("d")] }],
  },
];
const shown = (closed: string[]) =>
  rowsOf(items, new Set(closed)).map(({ item, level, position, size, isOpen }) => `${item.key} ${level} ${position}/${size} ${isOpen}`);

test("lines say their level and place; what is closed hides what it holds", () => {
  expect(shown([])).toEqual(["a 1 1/2 null", "b 1 2/2 true", "yes 2 1/1 true", "c 3 1/2 null", "d 3 2/2 null"]);
  expect(shown(["yes"])).toEqual(["a 1 1/2 null", "b 1 2/2 true", "yes 2 1/1 false"]);
});

test("the way to a line is told, and that there is none", () => {
  expect(pathTo(items, "d")).toEqual(["b", "yes"]);
  expect(pathTo(items, "a")).toEqual([]);
  expect(pathTo(items, "x")).toBeNull();
});

test("letters lead to the next name that begins so, round the end", () => {
  const names = ["Start", "Search", "Send", "Result"];
  expect(typeAhead(names, 0, "s")).toBe(1);
  expect(typeAhead(names, 1, "ss")).toBe(2);
  expect(typeAhead(names, 2, "se")).toBe(2);
  expect(typeAhead(names, 2, "st")).toBe(0);
  expect(typeAhead(names, 0, "x")).toBe(-1);
});
