import { describe, expect, it } from "vitest";
import { TriggerParameter } from "#server/engine/nodes/trigger-node.ts";
import { paramValues } from "#server/engine/params.ts";

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

  it("asks for what is required", () => {
    const required = [TriggerParameter.parse({ name: "city", required: true })];
    expect(() => paramValues(required, {})).toThrow('"city" is required');
    expect(() => paramValues(required, { city: "" })).toThrow("must not be empty");
    expect(paramValues([TriggerParameter.parse({ name: "note" })], {})).toEqual({ note: null });
  });
});
