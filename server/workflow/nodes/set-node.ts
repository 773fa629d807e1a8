import { z } from "zod";
import { dictionary } from "#server/shared/json-text.ts";
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
async function jsonOf(
  { name, value, type }: z.infer<typeof SetField>,
  jsonText: () => Promise<string>,
  rewriteJson: NodeContext<unknown>["rewriteJson"],
): Promise<string> {
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
      const text = (await jsonText()).trim();
      const written = text === "" ? { text: "null" } : await rewriteJson({ text, as: "compact" });
      if ("text" in written) return written.text;
      throw "error" in written ? new Error(written.error) : misfit("JSON");
    }
    default:
      return JSON.stringify(value);
  }
}

/**
 * The fields of a JSON object, as JSON texts by name.
 * @throws Error when the text is no JSON object
 */
async function fieldsIn(text: string, rewriteJson: NodeContext<unknown>["rewriteJson"]): Promise<Record<string, string>> {
  if (text.trim() === "") return dictionary();
  const written = await rewriteJson({ text, as: "fields" });
  if ("fields" in written) return dictionary(Object.fromEntries(written.fields));
  throw new Error("error" in written ? written.error : `Its input is to be kept and must be a JSON object, and it is ${shown(text)}.`);
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

async function run({ config: { fields, keep_input }, upstream, jsonText, rewriteJson }: NodeContext<z.infer<typeof config>>) {
  const values = keep_input ? await fieldsIn(upstream, rewriteJson) : dictionary<string>();
  for (const [index, field] of fields.entries())
    values[field.name.trim()] = await jsonOf(field, () => jsonText(`fields.${index}.value`), rewriteJson);
  // V8 copies no text here, as `join` would: the whole is copied once, where it is first read.
  let object = "";
  for (const [name, text] of Object.entries(values)) object += `${object === "" ? "" : ","}${JSON.stringify(name)}:${text}`;
  return { output: `{${object}}` };
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
