import { z } from "zod";
import { dictionary, parseJson } from "#server/shared/json-text.ts";
import { defineNode, type NodeContext, type NodeProblem, onError, template } from "#server/workflow/nodes/definition.ts";
import { booleanOf } from "#server/workflow/nodes/params.ts";

const SetField = z.strictObject({
  name: z.string().max(200).default("").meta({ title: "Name" }),
  value: z
    .string()
    .max(200_000)
    .default("")
    .meta({ title: "Value", ...template }),
  type: z.enum(["text", "number", "boolean", "json"]).default("text").meta({ title: "Type" }),
});

const config = z.looseObject({
  fields: z
    .array(SetField)
    .max(100)
    .default([])
    .meta({ title: "Fields", description: "What the object holds", widget: "rows", item: "field" }),
  keep_input: z
    .boolean()
    .default(false)
    .meta({ title: "Keep the input", description: "Starts with the fields of what came before, which must be a JSON object then" }),
  on_error: onError,
});

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What a value is said to be where it is not what it should be. */
const shown = (text: string) => (text.trim() === "" ? "nothing" : `"${text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text}"`);

/**
 * A field's value as JSON text.
 * @throws Error that names the field, for a value that is not of its type
 */
function jsonOf({ name, value, type }: z.infer<typeof SetField>, jsonText: () => string): string {
  const misfit = (expected: string) => new Error(`The field "${name}" is to be ${expected}, and its value is ${shown(value)}.`);
  const bare = value.trim();
  switch (type) {
    case "number":
      if (JSON_NUMBER.test(bare)) return bare;
      if (bare === "" || !Number.isFinite(Number(bare))) throw misfit("a number");
      return String(Number(bare));
    case "boolean": {
      const answer = booleanOf(bare);
      if (answer === undefined) throw misfit("true or false");
      return String(answer);
    }
    case "json": {
      const text = jsonText().trim();
      try {
        return text === "" ? "null" : JSON.stringify(parseJson(text));
      } catch {
        throw misfit("JSON");
      }
    }
    default:
      return JSON.stringify(value);
  }
}

/**
 * The fields of a JSON object, as JSON texts by name.
 * @throws Error when the text is no JSON object
 */
function fieldsIn(text: string): Record<string, string> {
  if (text.trim() === "") return dictionary();
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    value = undefined;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error(`Its input is to be kept and must be a JSON object, and it is ${shown(text)}.`);
  return dictionary(Object.fromEntries(Object.entries(value).map(([name, field]) => [name, JSON.stringify(field)])));
}

function problems({ fields, keep_input }: z.infer<typeof config>): NodeProblem[] {
  const names = fields.map(({ name }) => name.trim());
  const twice = names.find((name, index) => name !== "" && names.indexOf(name) !== index);
  return [
    ...(fields.length === 0 && !keep_input ? [{ field: "fields", message: "Add a field, or keep the input." }] : []),
    ...(names.includes("") ? [{ field: "fields", message: "Give each field a name." }] : []),
    ...(twice === undefined ? [] : [{ field: "fields", message: `Two fields are named "${twice}". Keep one of them.` }]),
  ];
}

function run({ config: { fields, keep_input }, upstream, jsonText }: NodeContext<z.infer<typeof config>>) {
  const values = keep_input ? fieldsIn(upstream) : dictionary<string>();
  for (const [index, field] of fields.entries()) values[field.name.trim()] = jsonOf(field, () => jsonText(`fields.${index}.value`));
  const parts = Object.entries(values).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return { output: `{${parts.join(",")}}` };
}

export const setNode = defineNode({
  type: "setNode",
  title: "Set",
  summary: "Puts values together into one JSON object",
  group: "data",
  hasInput: true,
  handles: null,
  isEffect: false,
  input: "fields",
  takesUpstream: ({ keep_input }) => keep_input,
  config,
  pin: () => ({ handle: null }),
  problems,
  run,
});
