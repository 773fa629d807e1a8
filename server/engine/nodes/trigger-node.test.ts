import { expect, test } from "vitest";
import { triggerNode } from "#server/engine/nodes/trigger-node.ts";

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

test.each([{ kind: "cron" }, { allowed_methods: ["FETCH"] }, { allowed_methods: ["get"] }, { response_mode: "later" }, { active: "yes" }])(
  "refuses %j",
  (data) => expect(triggerNode.config.safeParse(data).success).toBe(false),
);
