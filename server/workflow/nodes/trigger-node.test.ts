import { expect, test } from "vitest";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";

const problems = (data: object) =>
  (triggerNode.problems?.(triggerNode.config.parse(data), { agentName: () => undefined }) ?? []).map(({ field }) => field);

test("each kind starts with usable defaults", () => {
  expect(triggerNode.config.parse({})).toMatchObject({
    kind: "manual",
    payload_path: "",
    timezone: "UTC",
    active: true,
    allowed_methods: ["POST"],
    response_mode: "async",
  });
  for (const kind of ["manual", "webhook", "http"]) expect(problems({ kind })).toEqual([]);
});

test("what is not filled in yet is a problem of its own kind only", () => {
  expect(problems({ kind: "params" })).toEqual(["parameters"]);
  expect(problems({ kind: "schedule" })).toEqual(["cron_expression"]);
  expect(problems({ kind: "schedule", cron_expression: "0 9 * * *", timezone: "Mars/Olympus" })).toEqual(["timezone"]);
  expect(problems({ kind: "http", allowed_methods: [] })).toEqual(["allowed_methods"]);
  expect(problems({ kind: "manual", timezone: "Mars/Olympus", allowed_methods: [], parameters: [{ name: "a", type: "select" }] })).toEqual(
    [],
  );
});

test("a default that a run would fail at is a problem, of each parameter that has one", () => {
  const parameters = [
    { name: "days", type: "number", default: "soon" },
    { name: "metric", type: "boolean", default: "perhaps" },
    { name: "tone", type: "select", options: ["warm"], default: "loud" },
    { name: "tags", type: "array", default: "{}" },
    { name: "extra", type: "object", default: "[" },
    { name: "id", type: "number", default: "9007199254740993" },
    { name: "city", default: 7 },
    { name: "fine", type: "boolean", default: "yes" },
    { name: "none", type: "number", default: "" },
  ];
  const config = triggerNode.config.parse({ kind: "params", parameters });
  const said = triggerNode.problems?.(config, { agentName: () => undefined }) ?? [];
  expect(said.map(({ field, message }) => [field, message])).toEqual([
    ["parameters", 'The default of "days" must be a number.'],
    ["parameters", 'The default of "metric" must be true or false.'],
    ["parameters", 'The default of "tone" must be one of its options (warm).'],
    ["parameters", 'The default of "tags" must be a JSON array.'],
    ["parameters", 'The default of "extra" must be a JSON object.'],
    ["parameters", 'The default of "id" has more digits than a number keeps. Make it a text parameter.'],
  ]);
});

test.each([{ kind: "cron" }, { allowed_methods: ["FETCH"] }, { allowed_methods: ["get"] }, { response_mode: "later" }, { active: "yes" }])(
  "refuses %j",
  (data) => expect(triggerNode.config.safeParse(data).success).toBe(false),
);
