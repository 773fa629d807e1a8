import { expect, test } from "vitest";
import { fieldTitle, formatDiffCounts, formatFieldValue, formatMerge } from "#components/workflow-editor/history/version-format.ts";
import { mergeGraphs } from "#server/workflow/merge.ts";

test("counts in words; nothing for a save that changed nothing", () => {
  expect(formatDiffCounts({ nodes_added: 1, nodes_changed: 0, nodes_removed: 2, edges_changed: 1 })).toBe(
    "1 added, 2 removed, 1 connection",
  );
  expect(formatDiffCounts({ nodes_added: 0, nodes_changed: 0, nodes_removed: 0, edges_changed: 0 })).toBeNull();
});

test("a conflict says who changed how much", () => {
  const node = (id: string, more: object = {}) => ({ id, type: "outputNode", position: { x: 0, y: 0 }, data: { label: id, ...more } });
  const graph = (...nodes: ReturnType<typeof node>[]) => ({ nodes, edges: [] });
  const base = graph(node("a"), node("b"), node("c"));
  const mine = graph(node("a", { value: "mine" }), node("b", { value: "mine" }), node("c"));
  const theirs = graph(node("a"), node("b", { value: "theirs" }), { ...node("c"), position: { x: 9, y: 0 } });
  expect(formatMerge(mergeGraphs(base, mine, theirs))).toBe("By you: 1 changed · by them: only moved · by both: 1 changed");
  expect(formatMerge(mergeGraphs(base, mine, base))).toBe("By you: 2 changed · by them: nothing · by both: nothing");
});

test("fields are called as in the panel, values as people say them", () => {
  expect(fieldTitle("agentNode", "agent_id")).toBe("Agent");
  expect(fieldTitle("agentNode", "label")).toBe("Name");
  expect(fieldTitle("unknownNode", "some_thing")).toBe("Some thing");
  const names = {
    agent: (id: string) => (id === "1" ? "Scout" : undefined),
    workflow: (id: string) => (id === "2" ? "Digest" : undefined),
  };
  expect(formatFieldValue("agentNode", "agent_id", "1", names)).toBe("Scout");
  expect(formatFieldValue("workflowNode", "workflow_id", "2", names)).toBe("Digest");
  expect(formatFieldValue("waitNode", "seconds", 5400, names)).toBe("90 minutes");
  expect(formatFieldValue("waitNode", "timeout_hours", undefined, names)).toBe("3 days");
  expect(formatFieldValue("agentNode", "input", "", names)).toBe("(empty)");
  expect(formatFieldValue("agentNode", "retries", undefined, names)).toBe("2");
  expect(formatFieldValue("agentNode", "flag", false, names)).toBe("off");
  expect(formatFieldValue("agentNode", "list", [1], names)).toBe("[\n  1\n]");
});
