import { expect, test, vi } from "vitest";
import { TimeSlice } from "#server/platform/time-slice.ts";
import { listText, objectText } from "#server/shared/json-text.ts";
import { newRun } from "#server/testing/new-run.ts";
import { type JsonRewrite, rewriteJson } from "#server/workflow/rewrite-json.ts";

// Work on long texts is done outside of the executor, or in pieces; what comes of it is the same as for short ones.

const LIST = `[ ${"1, ".repeat(200_000)}2 ]`;
const OBJECT = `{ "list": ${LIST}, "id": 12345678901234567890 }`;

/** Result of a node, with the JSON that was rewritten for it outside of the executor. */
async function outcomeOf(node: [string, Record<string, unknown>], input: string) {
  const asked: JsonRewrite["as"][] = [];
  const { memory, go } = newRun({ t: ["triggerNode"], n: node }, ["t>n"], input, {
    rewriteJson: async (rewrite) => {
      asked.push(rewrite.as);
      return rewriteJson(rewrite);
    },
  });
  expect(await go()).toMatchObject({ kind: "over" });
  const { output, error } = memory.rows().find(({ node_id }) => node_id === "n") ?? {};
  return { output, error, asked };
}

test("an Output of format json has a long text written anew outside of the executor", async () => {
  const node: [string, Record<string, unknown>] = ["outputNode", { value: "{{trigger.output}}", format: "json" }];
  const { output, asked } = await outcomeOf(node, LIST);
  expect(asked).toEqual(["indented"]);
  expect(output === JSON.stringify(JSON.parse(LIST), null, 2)).toBe(true);
  expect(await outcomeOf(node, "[1]")).toEqual({ output: "[\n  1\n]", error: null, asked: [] });
  expect((await outcomeOf(node, `${LIST}]`)).error).toMatch(
    /^The value is not valid JSON, and this Output's format is json\. It begins: \[ 1/,
  );
});

test("an Output of format json rewrites deeply nested text outside of the executor", async () => {
  const deep = `${"[".repeat(60)}${"]".repeat(60)}`;
  const { output, asked } = await outcomeOf(["outputNode", { value: "{{trigger.output}}", format: "json" }], deep);
  expect(asked).toEqual(["indented"]);
  expect(output).toBe(JSON.stringify(JSON.parse(deep), null, 2));
});

test("a Set node has long JSON written anew outside of the executor", async () => {
  const fields = [{ name: "list", value: `[ ${"1, ".repeat(50_000)}2 ]`, type: "json" }];
  const { output, asked } = await outcomeOf(["setNode", { fields, keep_input: true }], OBJECT);
  expect(asked).toEqual(["fields", "compact"]);
  expect(output === `{"list":${JSON.stringify(JSON.parse(fields[0]?.value ?? ""))},"id":12345678901234567890}`).toBe(true);
});

test("a long output of several Outputs is joined in pieces as a short one is", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], a: ["outputNode", { value: "{{trigger.output}}" }], b: ["outputNode", { value: '"{{trigger.output}}"' }] },
    ["t>a", "t>b"],
    OBJECT,
  );
  expect(await go()).toMatchObject({ kind: "over" });
  const expected = objectText([
    ["a", OBJECT],
    ["b", `"${OBJECT}"`],
  ]);
  expect(memory.ending()?.output === expected).toBe(true);
  expect(memory.events().at(-1)).toMatchObject({ truncated: true, output: expected.slice(0, 2000), output_length: expected.length });
});

test("the long result of a loop is put together as a short one is", async () => {
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "[1,2,3]" }],
      s: ["setNode", { fields: [{ name: "text", value: "{{l.current_item}}{{trigger.output}}" }] }],
      o: ["outputNode", { value: "{{l.output}}" }],
    },
    ["t>l", "l.body>s", "l.done>o"],
    'a "quoted" text '.repeat(20_000),
  );
  expect(await go()).toMatchObject({ kind: "over" });
  const items = [1, 2, 3].map((item) => JSON.stringify({ text: `${item}${'a "quoted" text '.repeat(20_000)}` }));
  expect(memory.ending()?.output === listText(items)).toBe(true);
});

test("what a call with a secret is given is masked in slices before it is kept", async () => {
  const secret = "a secret value";
  const body = `${secret} and ${"long text ".repeat(200_000)}`;
  await new Promise(setImmediate); // a turn of the event loop without time of another clock
  let time = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => (time += 10));
  const turns = vi.spyOn(TimeSlice.prototype, "next");
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      h: ["httpNode", { url: "https://example.com", method: "POST", body_type: "text", body: "{{trigger.output}} {{credentials.KEY}}" }],
    },
    ["t>h"],
    body,
    { credentials: async () => new Map([["KEY", secret]]), callHttp: async () => ({ status: 200, headers: {}, text: "done" }) },
  );
  await go();
  const { length } = turns.mock.calls;
  vi.restoreAllMocks();
  const inputs = memory.rows().flatMap(({ node_id, input }) => (node_id === "h" && input !== null ? [input] : []));
  expect(inputs.length).toBeGreaterThan(0);
  for (const input of inputs) expect(input.includes(secret)).toBe(false);
  // The run's input, and what the call is given.
  expect(length).toBeGreaterThan((2 * body.length) / (16 * 1024));
});
