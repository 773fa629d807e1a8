import { expect, test } from "vitest";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { newRun } from "#server/testing/new-run.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { findFaults } from "#server/workflow/graph.ts";
import { paramValues } from "#server/workflow/nodes/params.ts";
import { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

// Names that every object has by itself, as ids, labels and parameters.

const ODD = ["constructor", "toString", "valueOf", "hasOwnProperty"];

test.each(ODD)("a node called %s runs, and is read, as any other", async (odd) => {
  const nodes: Golden["nodes"] = {
    t: ["triggerNode"],
    [odd]: ["outputNode", { value: "one" }],
    l: ["loopNode", { items_expression: "[1,2]" }],
    in: ["outputNode", { value: `{{${odd}.output}} {{l.current_item}}` }],
    b: ["branchNode", { condition: `node_outputs["${odd}"] == "one"` }],
    z: ["outputNode", { value: `{{${odd}.output}}` }],
  };
  const run = newRun(nodes, [`t>${odd}`, `${odd}>l`, "l.body>in", `${odd}>b`, "b.true>z"]);
  expect(run.problems()).toEqual([]);
  await run.go();
  expect(JSON.parse(run.memory.ending()?.output ?? "")).toEqual({ [odd]: "one", in: ["one 1", "one 2"], z: "one" });
  // Only the Output in the loop's body has values by item.
  expect(compileGraph(run.graph).bodyOutputs).toEqual(["in"]);
});

test.each([...ODD, "__proto__"])("a review's choice %s leads where its connection goes", (id) => {
  const choices = [
    { id, label: "Yes" },
    { id: "no", label: "No", style: "danger" },
  ];
  const graph = graphOf({
    nodes: { t: ["triggerNode"], r: ["humanLoopNode", { choices }], z: ["outputNode"] },
    edges: ["t>r", `r.${id}>z`],
  });
  expect(findFaults(graph)).toEqual([]);
});

test("a label __proto__ can be read by a condition; as an id it is refused", async () => {
  const run = newRun(
    {
      t: ["triggerNode"],
      a: ["outputNode", { label: "__proto__", value: "one" }],
      b: ["branchNode", { condition: 'node_outputs["__proto__"] == "one"' }],
      z: ["outputNode", { value: "{{__proto__.output}}" }],
    },
    ["t>a", "a>b", "b.true>z"],
  );
  await run.go();
  expect(run.memory.ending()).toMatchObject({ status: "completed" });
  const nodes = Object.fromEntries<Golden["nodes"][string]>([
    ["t", ["triggerNode"]],
    ["__proto__", ["outputNode"]],
  ]);
  const graph = graphOf({ nodes, edges: ["t>__proto__"] });
  expect(findFaults(graph)).toMatchObject([{ node_id: "__proto__", field: "id" }]);
});

test.each(ODD)("a parameter %s has no value until it is given one", (name) => {
  const parameter = (more: object) => TriggerParameter.parse({ name, ...more });
  expect(paramValues([parameter({})], {})).toEqual({ [name]: null });
  expect(() => paramValues([parameter({ required: true })], {})).toThrow("is required");
  expect(paramValues([parameter({ default: "x" })], {})).toEqual({ [name]: "x" });
  expect(() => paramValues([parameter({ type: "boolean" })], { [name]: name })).toThrow("true or false");
  expect(TriggerParameter.safeParse({ name: "__proto__" }).success).toBe(false);
});
