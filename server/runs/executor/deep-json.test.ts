import { expect, test } from "vitest";
import { newRun } from "#server/testing/new-run.ts";
import { rewriteJson } from "#server/workflow/rewrite-json.ts";

const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
const LEVELS = "It is nested more than 200 levels deep. Make it flatter.";

/** Error of a node that reads deeply nested JSON. */
async function errorOf(node: [string, Record<string, unknown>]): Promise<string | null | undefined> {
  const { memory, go } = newRun(
    { t: ["triggerNode"], n: node, b: ["outputNode"] },
    ["t>n", node[0] === "loopNode" ? "n.body>b" : "n>b"],
    DEEP,
    {
      rewriteJson: async (rewrite) => rewriteJson(rewrite),
    },
  );
  await go();
  return memory.rows().find(({ node_id }) => node_id === "n")?.error;
}

test.each<[string, [string, Record<string, unknown>], string]>([
  ["a loop", ["loopNode", { items_expression: "{{trigger.output}}" }], `The list of items is too complex. ${LEVELS}`],
  ["a path", ["outputNode", { value: "{{trigger.output[0]}}" }], `{{trigger.output[0]}} reads into JSON that is too complex. ${LEVELS}`],
  [
    "a filter",
    ["outputNode", { value: "{{trigger.output | first}}" }],
    `{{trigger.output | first}}: first reads JSON that is too complex. ${LEVELS}`,
  ],
  [
    "a JSON field",
    ["setNode", { fields: [{ name: "a", type: "json", value: "{{trigger.output}}" }] }],
    `The JSON is too complex. ${LEVELS}`,
  ],
  ["an Output as JSON", ["outputNode", { value: "{{trigger.output}}", format: "json" }], `The JSON is too complex. ${LEVELS}`],
])("%s of deeply nested JSON fails with its limit", async (_, node, error) => {
  expect(await errorOf(node)).toContain(error);
});
