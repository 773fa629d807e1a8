import { expect, test } from "vitest";
import { codeFault, runCode } from "#server/runs/effects/code.ts";

const { signal } = new AbortController();
const run = (code: string, inputs: Record<string, string> = {}, timeout = 5) => runCode({ code, inputs, timeout }, signal, "project");

test.each([
  ["1 + 1", "2"],
  ["x = 1", "null"],
  ["'text'", "text"],
  ["[1, 2.5, 'b', None, True, (1, 2), {3}]", '[1,2.5,"b",null,true,[1,2],[3]]'],
  ["{'a': {'b': 1}, 2: None, True: 'x', '__proto__': 5}", '{"a":{"b":1},"2":null,"true":"x","__proto__":5}'],
  ["10 ** 30", "1000000000000000000000000000000"],
  ["def double(x):\n  return [y * 2 for y in x]\n\ndouble([1, 2])", "[2,4]"],
  ["import json\njson.loads(data)['user']['name']", "Ada 👍"],
  ["total = sum(json.loads(data)['items'])\nf'{total} in all'", "6 in all"],
  ["from datetime import datetime\ndatetime.fromisoformat('2026-03-01')", "2026-03-01T00:00:00"],
  ["datetime.date(2026, 3, 1)", "2026-03-01"],
  ["re.findall('[a-z]+', 'ab 12 cd')", '["ab","cd"]'],
  ["# only a remark at the end\n5\n# so", "5"],
])("%j comes to %s", async (code, output) => {
  const data = '{"user": {"name": "Ada 👍"}, "items": [1, 2, 3]}';
  expect(await run(code, { data })).toEqual({ output, printed: "" });
});

test.each([
  ["x = 1\ny = x / 0\n3", "Line 2: ZeroDivisionError: division by zero."],
  ["def f():\n  return 1 / 0\n\n\nf()", "Line 2: ZeroDivisionError"],
  ["x =\n3", "Line 1: this is not Python: "],
  ["a = 1\nimport random", "Line 2: there is no module random here. There are re, json, math, datetime."],
  ["from os import path", "Line 1: there is no module os here."],
  ["import json, sys as system", "there is no module sys here"],
  ["open('/etc/passwd').read()", "cannot read files, the system or the time"],
  ["datetime.datetime.now()", "cannot read files, the system or the time"],
  ["foo(1)", "Line 1: NameError: name 'foo' is not defined."],
  ["float('nan')", "The result has the number NaN"],
  ["{(1, 2): 3}", "The result has a key"],
  ["b'abc'", "The result holds something that JSON does not know."],
  ["x = []\nfor i in range(300):\n  x = [x]\nx", "The result is nested more than 100 levels deep. Make it flatter."],
  ["def f(x):\n  return f(x)\nf(1)", "calls itself without end"],
  ["raise ValueError('no \"luck\"')", 'Line 1: ValueError: no "luck".'],
])("%j fails: %s", async (code, failure) => {
  expect(await run(code)).toMatchObject({ failure: expect.stringContaining(failure) });
});

// Ways out of other sandboxes: into the interpreter, to files, other processes and the network.
test.each([
  "__import__('os').system('id')",
  "eval('1')",
  "exec('x = 1')",
  "compile('1', '', 'eval')",
  "globals()",
  "().__class__.__bases__[0].__subclasses__()",
  "getattr(1, '__class__')",
  "(lambda: 0).__globals__",
  "json.codecs",
  "json.__loader__",
  "re.__builtins__",
  "exit()",
  "input()",
  "breakpoint()",
  "import socket",
  "import subprocess",
  "import urllib.request",
  "from pathlib import Path\nPath('/etc/passwd').read_text()",
  "import os\nos.environ['HOME']",
  "import asyncio\nasyncio.sleep(1)",
  "print('x', file=open('/tmp/x', 'w'))",
])("there is no way out by %j", async (code) => {
  expect(await run(code)).toMatchObject({
    failure: expect.stringMatching(/there is no module|NameError|AttributeError|cannot read files|this is not Python/),
  });
});

test.each([
  ["a result that is too large", "'x' * 20_000_000", "The output has 19.1 MiB, more than the 16.0 MiB that one node may leave behind."],
  ["a text that is too large", "'x' * (1 << 34)", "more than the 128 MB of memory"],
  ["a number that is too large", "2 ** (2 ** 40)", "more than the 128 MB of memory"],
  ["brackets without end", `${"[".repeat(5000)}${"]".repeat(5000)}`, "it is nested too deeply"],
  ["a pattern without end", "re.compile('(' * 5000 + ')' * 5000)", "too deeply nested"],
  ["JSON without end", "json.loads('[' * 100_000)", "recursion limit exceeded"],
  ["a list that takes the interpreter down", "a = []\nfor i in range(100_000):\n  a = [a]\njson.dumps(a)", "The code ended its process"],
])("%s ends nothing but the code", async (_, code, failure) => {
  expect(await run(code)).toMatchObject({ failure: expect.stringContaining(failure) });
  expect(await run("1")).toEqual({ output: "1", printed: "" });
});

test("what is printed is kept as far as it goes, also when the code fails", async () => {
  expect(await run("print('a', 1)\nprint({'b': [2]}, end='')\n1 / 0")).toEqual({
    failure: "Line 3: ZeroDivisionError: division by zero.",
    printed: expect.stringMatching(/^a 1\n\{'b': \[2\]\}/),
  });
  const { printed } = await run("for i in range(20000):\n  print('0123456789')\ni");
  expect(printed).toHaveLength(65_536);
});

test("code that loops, prints or allocates for ever is stopped, and the next one runs", async () => {
  const stopped = { failure: "The code took longer than its 0.2 s, and was stopped. Make it quicker, or give it more time." };
  expect(await run("while True:\n  pass", {}, 0.2)).toMatchObject(stopped);
  // On a fast machine its memory is used up before its time is.
  expect(await run("while True:\n  print('x' * 1000)", {}, 0.2)).toMatchObject({
    failure: expect.stringMatching(/took (longer than its 0\.2 s|more than the 128 MB of memory that there are for it), and was stopped/),
  });
  // Within one step of the sandbox, where it does not look at its limits.
  expect(await run("re.findall('a*b|a', 'a' * 300000)", {}, 0.2)).toMatchObject(stopped);
  expect(await run("x = 'a' * 1000000\ny = []\nwhile True:\n  y.append(x + str(len(y)))", {}, 10)).toMatchObject({
    failure: expect.stringContaining("128 MB of memory"),
  });
  expect(await run("1")).toEqual({ output: "1", printed: "" });
});

test("a run that is over does not wait for its code", async () => {
  const stop = new AbortController();
  const running = runCode({ code: "while True:\n  pass", inputs: {}, timeout: 10 }, stop.signal, "project");
  stop.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
});

test("what is wrong with code is known before it runs", async () => {
  const fault = (code: string, names: string[] = []) => codeFault(code, names, "project", signal);
  expect(await fault("x + 1", ["x"])).toBeUndefined();
  expect(await fault("1 / 0")).toBeUndefined();
  expect(await fault("a = 1\nif a = 2:\n  3")).toMatch(/^Line 2: this is not Python: .*To compare, write ==\.$/);
  expect(await fault("import requests")).toContain("there is no module requests");
  expect(await fault("'{}'.format(1)")).toContain("f-string");
  expect(await fault("class A:\n  pass")).toBe("Line 1: this is not Python: this sandbox has no class definitions.");
});
