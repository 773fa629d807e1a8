import { expect, test } from "vitest";
import { conditionFault, evaluateCondition } from "#server/runs/effects/conditions.ts";

const { signal } = new AbortController();
const holds = async (condition: string, output = "", more: { trigger?: string; nodes?: Record<string, string> } = {}) =>
  evaluateCondition(condition, { output, trigger_output: more.trigger ?? "", node_outputs: more.nodes ?? {} }, () => signal, "project");
/** Letters a and b without a pattern, the same at every run. */
function noise(length: number): string {
  let state = 12345;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 16) & 1 ? "a" : "b";
  };
  return Array.from({ length }, next).join("");
}

const fault = (condition: string) => conditionFault(condition, "project", signal);

test.each([
  ['"yes" in output', "well, yes", true],
  ['"yes" in output', "no", false],
  ["  output == 'a'  \n", "a", true],
  ["output == 'a' # a remark", "a", true],
  ["output == 'a'\n  and len(output) > 1", "a", false],
  ["json.loads(output)['score'] >= 7", '{"score": 7}', true],
  [String.raw`re.search(r"\bterm\w*", output)`, "it terminates", true],
  [String.raw`re.search(r"\bterm\w*", output)`, "it ends", false],
  ["math.ceil(float(output)) == 3", "2.1", true],
  ["output.strip().lower().startswith('grün')", " GRÜN 🌿", true],
  [`output == '"'`, '"', true],
  ["len(output) == 200000", "x".repeat(200_000), true],
  ["output", "text counts as true", true],
  ["output", "", false],
  ["None", "", false],
  ["[x for x in output if x == 'b']", "abc", true],
])("%s of %j is %s", async (condition, output, expected) => {
  expect(await holds(condition, output)).toBe(expected);
});

test("the trigger's output and those of nodes are at hand, also under names that JavaScript keeps for itself", async () => {
  expect(await holds("trigger_output == 'go'", "", { trigger: "go" })).toBe(true);
  const nodes = { "Research Agent": "done", ["__proto__"]: "kept", ü: "ö" };
  expect(await holds("node_outputs['Research Agent'] == 'done' and node_outputs['__proto__'] == 'kept'", "", { nodes })).toBe(true);
  expect(await holds("node_outputs.get('nobody', '') == '' and len(node_outputs) == 3", "", { nodes })).toBe(true);
});

test("a condition keeps no state from one run to the next, and a failure leaves it whole", async () => {
  const condition = "json.loads(output)['ok']";
  expect(await holds(condition, '{"ok": true}')).toBe(true);
  await expect(holds(condition, "no json")).rejects.toThrow("The condition failed: json.JSONDecodeError");
  expect(await holds(condition, '{"ok": false}')).toBe(false);
  expect(await holds("(lambda seen: seen.append(output) or len(seen) == 1)([])", "a")).toBe(true);
  expect(await holds("(lambda seen: seen.append(output) or len(seen) == 1)([])", "a")).toBe(true);
});

test.each([
  [
    "x",
    "The condition failed: NameError: name 'x' is not defined. It can use output, trigger_output and node_outputs, and the modules re, json and math.",
  ],
  [
    "node_outputs['Scot']",
    'The condition failed: KeyError: "Scot". node_outputs has "Scout"; node_outputs.get("…", "") reads one that may be missing.',
  ],
  ["output + 1", "The condition failed: TypeError"],
  ["[i for i in range(10**12)]", "took longer than 100 ms"],
  ["sum(range(10**12)) > 0", "took longer than 100 ms"],
  ["10**10**8", "took more than 64 MB of memory"],
  ["'a' * 10**9", "took more than 64 MB of memory"],
  ["f'{output:>1000000000}'", "took more than 64 MB of memory"],
  ["(lambda f: f(f))(lambda f: f(f))", "calls itself without end"],
  [String.raw`re.match(r'(.*)*x(?=y)\1', 'a' * 300000)`, "regular expression takes too long"],
  ["().__class__", "AttributeError"],
  ["(1).__class__.__bases__[0].__subclasses__()", "AttributeError"],
  ["open('/etc/passwd')", "it cannot read files or the system"],
  ["__import__('os')", "NameError: name '__import__' is not defined"],
  ["eval('1')", "NameError: name 'eval' is not defined"],
  ["re.__loader__", "AttributeError"],
])("%s fails in words", async (condition, words) => {
  await expect(holds(condition, "text", { nodes: { Scout: "a" } })).rejects.toThrow(words);
});

test("of a failure that quotes a long text only the beginning comes back", async () => {
  const error = await holds("{}['a' * 5000000]").catch((reason: Error) => reason.message);
  expect(error).toMatch(/^The condition failed: KeyError: a+$/);
  expect(String(error).length).toBeLessThan(100_000);
});

test("a step that the sandbox cannot stop is stopped with its process", async () => {
  await expect(holds("re.findall('a*b|a', output)", "a".repeat(300_000))).rejects.toThrow("took too long, and was stopped");
});

test("a condition in a process of its own gives the same answers and the same failures", async () => {
  const nodes = { Scout: "x", ["__proto__"]: "kept", ü: "ö" };
  expect(
    await holds(
      "len(re.findall('a', output)) == 2 and node_outputs['ü'] == 'ö' and node_outputs['__proto__'] == 'kept'",
      "banana 🌿 a".slice(0, 4),
      { nodes },
    ),
  ).toBe(true);
  expect(await holds("2 ** 10 == int(output)", "1023")).toBe(false);
  await expect(holds("2 ** x", "")).rejects.toThrow("name 'x' is not defined. It can use output");
  await expect(holds("10**10**8")).rejects.toThrow("took more than 64 MB of memory");
});

test.each([
  ["json.dumps([[[[0]*1000]*1000]*1000]*1000) == ''", ""],
  ["re.search('a[ab]{500}c', output)", noise(2_000_000)],
  ["7 ** 7 ** 9 > 1", ""],
  ["output.expandtabs(10**9) == ''", "\t".repeat(100)],
])("%s ends by what it takes, not by how it looks, and the next one is answered", async (condition, output) => {
  await expect(holds(condition, output)).rejects.toThrow(/was stopped|memory|too long/);
  expect(await holds("output == 'a'", "a")).toBe(true);
});

test("a condition that takes too long on empty texts is told before it runs", async () => {
  const hostile = "json.dumps([[[[0]*1000]*1000]*1000]*1000) == ''";
  expect(await fault(hostile)).toContain("was stopped");
  // Known by now, so that nothing is run again for it.
  expect(await fault(hostile)).toContain("was stopped");
});

test("long texts are at hand as far as the sandbox has room, and more is refused unsent", async () => {
  const long = "x".repeat(20 * 1024 * 1024);
  expect(await holds("len(output) == 20971520", long)).toBe(true);
  const nodes = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, long]));
  await expect(holds("len(node_outputs) == 4", "", { nodes })).rejects.toThrow("took more than 64 MB of memory");
  expect(await holds("output == ''", "", { nodes })).toBe(true);
});

test.each([
  ['"%s items" % output', "does not fill in texts with %. Write an f-string"],
  ['output == "a" and "%d" % 3', "does not fill in texts with %"],
  ['"{} items".format(output)', "no .format(…) of texts. Write an f-string"],
  ['output and "{a}".format_map(node_outputs)', "no .format_map(…) of texts"],
  ["list(map(str.upper, output.split()))", "no str.upper to hand on. Write a lambda, for example: lambda value: value.upper()"],
  ["output == 'x' and sorted(output, key=str.lower)", "lambda value: value.lower()"],
  ["format(len(output), '.2f')", "Write an f-string"],
  ["output.translate({})", "Write replace"],
  ["next((x for x in [1]), None)", "write next(iter(…), None)"],
])("%s cannot run in the sandbox: what to write instead is told before", async (condition, words) => {
  expect(await fault(condition)).toContain(words);
});

test.each([
  ["output == '%s' and '.format(' in output", "x"],
  ["len(output) % 2 == 0 # '%s' % x", "ab"],
  ["f'{len(output)} items' == '1 items'", "a"],
  ["(lambda str: str.upper())(output) == 'A'", "a"],
  ["','.join(map(str, [1])) == '1'", ""],
  ["next(iter([x for x in output]), None) == 'a'", "a"],
])("%s looks like it and can", async (condition, output) => {
  expect(await fault(condition)).toBeUndefined();
  expect(typeof (await holds(condition, output))).toBe("boolean");
});

test("nested repeats in a regular expression cost nothing", async () => {
  expect(await holds("re.match('(a+)+$', 'a' * 40 + 'b')")).toBe(false);
});

test("what a condition prints goes nowhere", async () => {
  expect(await holds("print('hello')")).toBe(false);
});

test.each([
  ["", "The condition is empty."],
  ["# only a remark", "The condition is empty."],
  ["output ==", "Expected an expression at its end."],
  ["output = 'x'", "unexpected `=` near \"= 'x'\". To compare, write ==."],
  ["output === 'x'", "Python compares with == and !=."],
  ["output && trigger_output", "Python writes and, or, not."],
  ["“yes” in output", "Use straight quotes."],
  ["'yes", "missing closing quote"],
  ["1; 2", "unexpected `;`"],
  ["True\nFalse", "is not a Python expression"],
  ["import os", "is not a Python expression"],
  ["while True: pass", "is not a Python expression"],
  ["del output", "is not a Python expression"],
  ["return True", "is not a Python expression"],
  ["yield output", "is not a Python expression"],
  ["True) or (True", "is not a Python expression"],
  ["True))\nimport os\nbool((True", "is not a Python expression"],
  ["x for x in output", "is not a Python expression"],
  [`${"(".repeat(5000)}1${")".repeat(5000)}`, "nested too deeply"],
  ["outptu == 'x'", "The condition uses outptu, which does not exist. Did you mean output?"],
  ["output == 'x' or shout(output)", "The condition uses shout, which does not exist."],
  ["output == true", "Python writes True."],
])("%s is refused before it runs", async (condition, words) => {
  expect(await fault(condition)).toContain(words);
  expect(await fault(condition)).toBe(await fault(condition));
  await expect(holds(condition)).rejects.toThrow(/^The condition /);
});

test.each(["json.loads(output)['a'] > 3", "node_outputs['Scout'] == 'x'", "float(output) > 2", "re.search('a', output)", "(\n1\n)"])(
  "%s is no fault, though it may fail on an empty text",
  async (condition) => {
    expect(await fault(condition)).toBeUndefined();
  },
);

test("more conditions than are kept compiled still work", async () => {
  for (let number = 0; number < 700; number++) expect(await holds(`len(output) == ${number}`, "abc")).toBe(number === 3);
  expect(await holds("len(output) == 0", "abc")).toBe(false);
});
