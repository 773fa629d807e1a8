import { z } from "zod";
import { dictionary } from "#server/shared/json-text.ts";
import { defineNode, type NodeContext, type NodeProblem, type NodeScope, onError, template } from "#server/workflow/nodes/definition.ts";

const CodeInput = z.strictObject({
  name: z.string().max(60).default("").meta({ title: "Name" }),
  value: z
    .string()
    .max(200_000)
    .default("")
    .meta({ title: "Value", ...template }),
});

const config = z.looseObject({
  inputs: z
    .array(CodeInput)
    .max(50)
    .default([])
    .meta({ title: "Inputs", description: "Texts that the code reads as variables of these names", widget: "rows", item: "input" }),
  code: z.string().max(100_000).default("").meta({
    title: "Code",
    description: "Python; the value of its last line is the output. At hand: the inputs, re, json, math, datetime",
    widget: "code",
  }),
  timeout: z.number().min(0.1).max(10).default(1).meta({ title: "Timeout", description: "Most seconds that it may take", advanced: true }),
  on_error: onError,
});

/** What the sandbox has under these names already. */
const MODULES = ["re", "json", "math", "datetime"];
const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);

function nameFault(name: string, names: readonly string[]): string | undefined {
  if (name === "") return "Give each input a name.";
  if (!/^[A-Za-z_]\w*$/.test(name) || KEYWORDS.has(name)) return `Python cannot call a variable "${name}". Use letters, digits and _.`;
  if (MODULES.includes(name)) return `"${name}" is a module that the code has at hand. Call the input otherwise.`;
  return names.indexOf(name) === names.lastIndexOf(name) ? undefined : `Two inputs are named "${name}". Keep one of them.`;
}

function problems({ code, inputs }: z.infer<typeof config>, scope: NodeScope): NodeProblem[] {
  const names = inputs.map(({ name }) => name.trim());
  const faults = new Set(names.flatMap((name) => nameFault(name, names) ?? []));
  const wrong = [...faults].map((message) => ({ field: "inputs", message }));
  if (code.replace(/^[ \t]*#.*$/gm, "").trim() === "")
    return [...wrong, { field: "code", message: "Write the code. Its last line says what comes out." }];
  const fault = wrong.length ? undefined : scope.codeFault?.(code, names);
  return fault ? [...wrong, { field: "code", message: fault }] : wrong;
}

const inputsOf = ({ inputs }: z.infer<typeof config>) =>
  dictionary(Object.fromEntries(inputs.map(({ name, value }) => [name.trim(), value])));

async function run({ config: written, runCode }: NodeContext<z.infer<typeof config>>) {
  return { output: await runCode({ code: written.code, inputs: inputsOf(written), timeout: written.timeout }) };
}

export const codeNode = defineNode({
  type: "codeNode",
  title: "Code",
  summary: "Runs Python on texts, in a sandbox",
  group: "data",
  hasInput: true,
  handles: null,
  isEffect: true,
  input: "inputs",
  takesUpstream: () => false,
  shownInput: (written) => JSON.stringify(inputsOf(written)),
  config,
  pin: () => ({ handle: null }),
  problems,
  run,
});
