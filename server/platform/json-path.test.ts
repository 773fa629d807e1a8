import { describe, expect, it } from "vitest";
import { asText, atPath, pathFault as faultOf, pathCostFault } from "#server/platform/json-path.ts";
import { parseJson } from "#server/shared/json-text.ts";

const pathFault = (path: string) => faultOf(path, "The payload path", "$.issue.title");
const payload = { user: { email: "a@example.com", age: 7, "full name": "A B" }, items: [{ id: 1 }, { id: 2 }], none: null, list: ["only"] };

describe("atPath", () => {
  it.each([
    ["", JSON.stringify(payload)],
    ["$.user.email", "a@example.com"],
    ["$.user.age", "7"],
    ["$.user['full name']", "A B"],
    ["$.user", JSON.stringify(payload.user)],
    ["$.items[*].id", "[1,2]"],
    ["$.items[?@.id > 1].id", "[2]"],
    ["$.items[-1]", '{"id":2}'],
    ["$.items[-1:]", '[{"id":2}]'],
    ["$.items[?@.id > 2].id", "[]"],
    ["$.list", '["only"]'],
    ["$.list[*]", '["only"]'],
    ["$.user.phone[*]", "[]"],
    ["$..id", "[1,2]"],
    ["$.none", "null"],
    [" $.user.age ", "7"],
  ])("%j gives %s", (path, text) => expect(asText(atPath(payload, path))).toBe(text));

  it("long numbers are compared by filters, and given with all their digits", () => {
    const orders = parseJson('{"orders":[{"id":9007199254740993},{"id":12},{"id":9007199254740995}]}');
    expect(asText(atPath(orders, "$.orders[?@.id > 100].id"))).toBe("[9007199254740993,9007199254740995]");
    expect(asText(atPath(orders, "$.orders[0].id"))).toBe("9007199254740993");
    expect(asText(atPath(orders, "$.orders[?@.id == 12]"))).toBe('[{"id":12}]');
  });

  it("no match is undefined, on payloads of every kind", () => {
    for (const any of [payload, [], "text", 4, null, true]) expect(atPath(any, "$.user.phone")).toBeUndefined();
  });
});

it("a path that doubles the work at each step, or tries a pattern for ever, is stopped", () => {
  const deep = JSON.parse(`${"[".repeat(60)}1${"]".repeat(60)}`);
  expect(() => atPath(deep, `$${"[0,0]".repeat(60)}`)).toThrow("timed out");
  expect(() => atPath([`${"a".repeat(40)}!`], "$[?match(@, '(a+)+b')]")).toThrow("timed out");
  expect(atPath({ a: 1 }, "$.a")).toBe(1);
});

describe("pathFault", () => {
  it("takes what RFC 9535 takes, and nothing at all", () => {
    for (const path of ["", "  ", "$", "$.a.b[0]", "$['a b']", "$..x", "$[?@.a == 'b']"]) expect(pathFault(path)).toBeUndefined();
  });

  it.each(["user.email", "$.", "$[", "{{trigger.output}}", "$.a[?"])("refuses %j with a sentence", (path) =>
    expect(pathFault(path)).toMatch(/^The payload path is no JSONPath: .+ It begins with \$/),
  );
});

it("a path that is followed again and again keeps to what is quick on any payload", () => {
  for (const path of ["$", "$.a['b'][0]", "$..x", "$.a[*].b[1:3]", "$[?@.a == $.b && length(@.c) > 2].d", "$.a['x','y']"])
    expect([path, pathCostFault(path)]).toEqual([path, undefined]);
  for (const [path, says] of [
    ["$[?match(@.a, 'x')]", "match()"],
    ["$[?!(@.b == 1 || search(@.a, 'x'))]", "search()"],
    ["$..a..b", ".. once"],
    ["$[?$..a]", ".. once"],
    ["$[0,0][0,0][0,0][0,0]", "8 places"],
    ["$[?@[?@.a]]", "another filter"],
    ["$[?count(@[?@.a]) > 1]", "another filter"],
    ["$[?count($[*]) > 1]", "Of the whole"],
    ["$.a[?@.b == 1 && length($.text) > @.c]", "Of the whole"],
    ["$[?!$.a[*]]", "Of the whole"],
    ["$[?$.a == $.b]", "Of the whole"],
  ] as const)
    expect([path, pathCostFault(path)]).toEqual([path, expect.stringContaining(says)]);
});
