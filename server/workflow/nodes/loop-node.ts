import { z } from "zod";
import { JsonTooComplex } from "#server/shared/json-depth.ts";
import { parseJson } from "#server/shared/json-text.ts";
import { defineNode, template } from "#server/workflow/nodes/definition.ts";

/** A list, or text that parses as a JSON array (contract, section 4). */
function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const text = typeof value === "string" ? value.trim().replace(/^```(?:json)?\s*\n?|\n?```$/g, "") : "";
  try {
    const parsed = parseJson(text);
    if (Array.isArray(parsed)) return parsed;
  } catch (error) {
    if (error instanceof JsonTooComplex) throw new Error(`The list of items is too complex. ${error.message}`);
    // The sentence below says it better than the parser does.
  }
  const begins = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "" && value === "") throw new Error("There is no list of items: what they are read from is empty. An empty list is [].");
  throw new Error(`The items are not a list. Give a list, or text that is a JSON array. It begins: ${String(begins).slice(0, 200)}`);
}

export const loopNode = defineNode({
  type: "loopNode",
  title: "Loop",
  summary: "Runs its body once for each item of a list",
  group: "logic",
  hasInput: true,
  handles: ["body", "done"],
  body: {
    handle: "body",
    fields: ["current_item", "index"],
    settings: ({ concurrency, on_item_error }) => ({ concurrency: Number(concurrency), continues: on_item_error === "continue" }),
    input: "items_expression",
    itemsOf: listOf,
  },
  isEffect: false,
  config: z.looseObject({
    items_expression: z
      .string()
      .max(200_000)
      .default("")
      .meta({
        title: "Items",
        description: "A list, or text that is a JSON array, e.g. {{trigger.items}}",
        widget: "textarea",
        ...template,
      }),
    concurrency: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(1)
      .meta({ title: "At a time", description: "Items that run side by side; results keep their order" }),
    on_item_error: z
      .enum(["fail", "continue"])
      .default("fail")
      .meta({ title: "If an item fails", description: "fail ends the loop; continue keeps its error in its place" }),
    max_iterations: z
      .number()
      .int()
      .min(1)
      .max(100_000)
      .default(1000)
      .meta({ title: "Most items", description: "With more, the loop fails before the first one", advanced: true }),
  }),
  pin(output) {
    try {
      if (Array.isArray(JSON.parse(output))) return { handle: "done" };
    } catch {
      // The sentence below says it.
    }
    return { refusal: 'A Loop leaves a list behind. Write a JSON array, such as ["one", "two"].' };
  },
  problems: ({ items_expression }) =>
    items_expression.trim() === ""
      ? [{ field: "items_expression", message: "Say what to loop over, for example {{trigger.output}}." }]
      : [],
  async run({ config, typedValue }) {
    const items = listOf(await typedValue("items_expression"));
    if (items.length > config.max_iterations)
      throw new Error(
        `The list has ${items.length} items, and this loop takes at most ${config.max_iterations}. Raise its limit or shorten the list.`,
      );
    return { loop: { items } };
  },
});
