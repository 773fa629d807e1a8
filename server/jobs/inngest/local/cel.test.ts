import { describe, expect, test } from "vitest";
import { eventKeys, holds, keyText, waitKey } from "#server/jobs/inngest/local/cel.ts";
import { dueAt, retryAt } from "#server/jobs/inngest/local/clock.ts";
import { eventId } from "#server/jobs/inngest/local/ids.ts";
import { changesOf } from "#server/jobs/inngest/local/ops.ts";

const event = { name: "go", data: { id: "a", n: 5, deep: { x: true, gone: null }, list: [1], "dotted.name": "d" } };

describe("conditions", () => {
  test.each([
    ["event.data.id == 'a'", true],
    ["event.data.n > 4 && event.data.n < 5.5", true],
    ["event.data.missing == 'a'", false],
    ["event.data.missing != 'a'", false],
    ["event.data.missing == 'a' || event.data.id == 'a'", true],
    ["event.data.id", false],
    ["event.data.(", false],
    ["1 in event.data.list", true],
  ])("%s is %s", (expression, expected) => expect(holds(expression, { event })).toBe(expected));

  test("keys of functions keep types apart", () => {
    expect(keyText("event.data.n", event)).not.toBe(keyText("string(event.data.n)", event));
    expect(keyText("event.data.missing", event)).toBeUndefined();
  });
});

describe("keys of waits", () => {
  // What an index lookup finds must be what the expression says.
  test.each([
    ["event.data.id == async.data.id", true],
    ["async.data.id == 'a'", true],
    ["async.data['id'] == \"a\"", true],
    ["async.data.n == 5", true],
    ["async.data.deep.x == true", true],
    ["async.data.deep.gone == null", true],
    ["async.data.missing == null", true],
    ["async.data.id == 'b'", true],
    ["async.data.dotted == 'd'", true],
    ["event.data.missing == async.data.missing", true],
    ["async.data.id == 'a' && async.data.n > 9", false],
    ["async.data.id == 'a' || async.data.n > 9", false],
    ["async.data.n > 9", false],
  ])("%s", (expression, exact) => {
    const key = waitKey(expression, event);
    expect(key.exact).toBe(exact);
    const found = eventKeys(event)?.includes(key.key);
    if (exact) expect(found).toBe(holds(expression, { event, async: event }));
    else if (holds(expression, { event, async: event })) expect(found).toBe(true);
  });

  test("a wait without a condition meets every event; an event too large for keys says so", () => {
    expect(waitKey(undefined, event)).toEqual({ key: "", exact: true });
    expect(eventKeys({ data: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n])) })).toBeUndefined();
  });
});

test("durations and dates of the SDK", () => {
  expect(dueAt("1w2d3h4m5s", 0)).toBe(((9 * 24 + 3) * 60 + 4) * 60_000 + 5000);
  expect(dueAt("", 7)).toBe(7);
  expect(dueAt("2030-01-01T00:00:00.000Z", 0)).toBe(Date.UTC(2030, 0, 1));
  expect(() => dueAt("soon", 0)).toThrow(/neither/);
});

test("retries wait longer each time, or as long as they were told", () => {
  const waits = Array.from({ length: 20 }, (_, attempt) => retryAt(attempt, null, 0));
  expect(waits[0]).toBeLessThan(1200);
  expect(waits[19]).toBeGreaterThanOrEqual(7_200_000);
  expect(retryAt(0, "90", 0)).toBe(90_000);
  expect(retryAt(0, "1970-01-01T00:01:00Z", 0)).toBe(60_000);
});

test("ids made of a seed are the same again and differ by place", () => {
  expect(eventId("1700000000000,abc", 0, 1)).toBe(eventId("1700000000000,abc", 0, 2));
  expect(eventId("1700000000000,abc", 0, 1)).not.toBe(eventId("1700000000000,abc", 1, 1));
  expect(eventId(null, 0, Date.now()) < eventId(null, 0, Date.now() + 1)).toBe(true);
});

test("an operation that is not supported fails the run with its name", () => {
  const context = { event: () => event, now: 0, attempt: 0, maxAttempts: 4, retryAfter: null, race: false };
  const changes = changesOf([{ op: "InvokeFunction", id: "x" }], context);
  expect(changes.end?.status).toBe("failed");
  expect(changes.end?.output).toContain("InvokeFunction");
});
