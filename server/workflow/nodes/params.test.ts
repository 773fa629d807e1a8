import { describe, expect, it } from "vitest";
import { defaultFault, paramValues } from "#server/workflow/nodes/params.ts";
import { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

const parameters = [
  { name: "city", type: "text", default: "Oslo" },
  { name: "days", type: "number", default: "3" },
  { name: "metric", type: "boolean", default: "true" },
  { name: "tone", type: "select", options: ["warm", "dry"], default: "dry" },
  { name: "tags", type: "array", default: '["a"]' },
  { name: "extra", type: "object", default: "{}" },
].map((parameter) => TriggerParameter.parse(parameter));

describe("paramValues", () => {
  it("uses defaults, coerced to the declared type", () => {
    expect(paramValues(parameters, {})).toEqual({ city: "Oslo", days: 3, metric: true, tone: "dry", tags: ["a"], extra: {} });
  });

  it("lets explicit values override, and keeps the other defaults", () => {
    expect(paramValues(parameters, { days: 7, metric: "false", tags: [1, 2] })).toMatchObject({
      city: "Oslo",
      days: 7,
      metric: false,
      tags: [1, 2],
    });
  });

  it.each([
    [{ days: "soon" }, '"days" must be a number'],
    [{ days: true }, '"days" must be a number'],
    [{ days: "9007199254740993" }, '"days" has more digits than a number keeps. Make it a text parameter.'],
    [{ metric: "perhaps" }, '"metric" must be true or false'],
    [{ tone: "loud" }, "(warm, dry)"],
    [{ tags: "{}" }, "a JSON array"],
    [{ extra: [] }, "a JSON object"],
    [{ cty: "x" }, 'no parameter "cty"'],
  ])("refuses %j", (given, reason) => expect(() => paramValues(parameters, given)).toThrow(reason));

  it.each([
    ["true", true],
    ["1", true],
    [1, true],
    ["yes", true],
    [" YES ", true],
    ["On", true],
    [0, false],
    ["0", false],
    ["No", false],
    ["off", false],
    ["FALSE", false],
  ])("takes %j as a boolean", (given, expected) => {
    expect(paramValues(parameters, { metric: given })).toMatchObject({ metric: expected });
    const [parameter] = [TriggerParameter.parse({ name: "metric", type: "boolean", default: given })];
    expect(paramValues([parameter], {})).toEqual({ metric: expected });
    expect(defaultFault(parameter)).toBeUndefined();
  });

  it.each([2, "y", "ja", "10", [1], {}])("takes %j for no boolean", (given) =>
    expect(() => paramValues(parameters, { metric: given })).toThrow('"metric" must be true or false'),
  );

  it("asks for what is required", () => {
    const required = [TriggerParameter.parse({ name: "city", required: true })];
    expect(() => paramValues(required, {})).toThrow('"city" is required');
    expect(() => paramValues(required, { city: "" })).toThrow("must not be empty");
    expect(paramValues([TriggerParameter.parse({ name: "note" })], {})).toEqual({ note: null });
  });
});
