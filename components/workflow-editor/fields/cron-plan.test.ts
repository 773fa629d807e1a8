import { expect, test } from "vitest";
import { type CronPlan, cronOf, newPlan, planOf } from "#components/workflow-editor/fields/cron-plan.ts";

test.each<[string, CronPlan]>([
  ["*/15 * * * *", { kind: "minutes", every: 15 }],
  ["30 * * * *", { kind: "hourly", minute: 30 }],
  ["5 9 * * *", { kind: "daily", time: "09:05" }],
  ["0 18 * * 1-5", { kind: "weekly", days: [1, 2, 3, 4, 5], time: "18:00" }],
  ["0 18 * * 0,3", { kind: "weekly", days: [0, 3], time: "18:00" }],
  ["15 7 28 * *", { kind: "monthly", day: 28, time: "07:15" }],
])("%s is a plan, and the plan is that expression", (expression, plan) => {
  expect(planOf(expression)).toEqual(plan);
  expect(cronOf(plan)).toBe(expression);
});

test("Sunday is 0 and 7, and a list of neighbours is a range", () => {
  expect(planOf("0 9 * * 7")).toEqual({ kind: "weekly", days: [0], time: "09:00" });
  expect(planOf("0 9 * * 5-7")).toEqual({ kind: "weekly", days: [0, 5, 6], time: "09:00" });
  expect(cronOf({ kind: "weekly", days: [3, 1, 2], time: "09:00" })).toBe("0 9 * * 1-3");
});

test.each([
  "*/4 * * * *",
  "*/60 * * * *",
  "0 9 * 1 *",
  "0 9 29 * *",
  "0 9 1 * 1",
  "0,30 9 * * *",
  "0 9 * * MON",
  "60 * * * *",
  "0 24 * * *",
  "0 9 * *",
  "0 9 * * 5-1",
  "",
  "every day",
])("%j stays as it was typed", (expression) => {
  expect(planOf(expression)).toEqual({ kind: "custom", expression });
  expect(cronOf(planOf(expression))).toBe(expression);
});

test("another kind keeps the time of day; a custom one begins with what there was", () => {
  expect(newPlan("weekly", "45 6 * * *")).toEqual({ kind: "weekly", days: [1, 2, 3, 4, 5], time: "06:45" });
  expect(newPlan("custom", "45 6 * * *")).toEqual({ kind: "custom", expression: "45 6 * * *" });
  expect(cronOf(newPlan("daily", ""))).toBe("0 9 * * *");
});

test("a time that was cleared is midnight, never a broken expression", () => {
  expect(cronOf({ kind: "daily", time: "" })).toBe("0 0 * * *");
});
