import { expect, test } from "vitest";
import { type SearchableNodes, searchNodes } from "#components/workflow-editor/canvas/document/node-search.ts";

const at = (x: number) => ({ x, y: 0 });
const searched: SearchableNodes = {
  nodes: [
    { id: "o", type: "outputNode", position: at(900) },
    { id: "t", type: "triggerNode", position: at(0) },
    { id: "a", type: "agentNode", position: at(300) },
    { id: "b", type: "branchNode", position: at(600) },
  ],
  data: {
    t: { label: "Start", kind: "params", parameters: [{ name: "topic", label: "What about" }] },
    a: { label: "Research", agent_id: "agent-1", input: `${"Look carefully. ".repeat(5)}Write about {{trigger.topic}}` },
    b: { label: "Long enough", condition: "len(output) > 200" },
    o: { label: "Result", value: "{{Research.output}}" },
  },
  agentName: (id) => (id === "agent-1" ? "Scout" : undefined),
};
const found = (query: string) => searchNodes(searched, query).map(({ nodeId, place }) => `${nodeId} ${place}`);

test("names, types, agents and settings are searched, whatever the case, from left to right", () => {
  expect(found("research")).toEqual(["a Name", "o Value"]);
  expect(found("BRANCH")).toEqual(["b Type"]);
  expect(found("scout")).toEqual(["a Agent"]);
  expect(found("topic")).toEqual(["t Parameters", "a Input"]);
  expect(found("len(output)")).toEqual(["b Condition"]);
  expect(found("agent-1")).toEqual([]);
  expect(found("  ")).toEqual([]);
});

test("the words around are told", () => {
  expect(searchNodes(searched, "write about")[0]?.excerpt).toBe("…ly. Look carefully. Write about {{trigger.topic}}");
});

test.each([
  ["cafe", "Un Café noir"],
  ["entreprise", "L’entreprise"],
  ["wasserwerk", "Das Wasser\u00adwerk"],
])("finds %s in %j", (query, text) => {
  const nodes = { ...searched, data: { ...searched.data, o: { label: "Result", value: text } } };

  expect(searchNodes(nodes, query)).toMatchObject([{ nodeId: "o", excerpt: text }]);
});
