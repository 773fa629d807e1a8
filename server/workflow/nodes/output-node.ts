import { z } from "zod";
import { parseJson } from "#server/shared/json-text.ts";
import { defineNode, template } from "#server/workflow/nodes/definition.ts";

/** Text as JSON when it is JSON (bare or in a code fence), pretty-printed; a sentence when it is not. */
function asJson(value: string): string {
  const bare = value.replace(/^\s*```(?:json)?\s*\n?|\n?```\s*$/g, "");
  try {
    return JSON.stringify(parseJson(bare), null, 2);
  } catch {
    throw new Error(`The value is not valid JSON, and this Output's format is json. It begins: ${value.slice(0, 200)}`);
  }
}

export const outputNode = defineNode({
  type: "outputNode",
  title: "Output",
  summary: "Keeps a value as a result of the run",
  group: "output",
  hasInput: true,
  handles: null,
  isEffect: false,
  config: z.looseObject({
    value: z
      .string()
      .max(200_000)
      .default("")
      .meta({ title: "Value", description: "Empty passes on what came before", widget: "textarea", ...template }),
    format: z.enum(["passthrough", "json", "markdown"]).default("passthrough").meta({ title: "Format" }),
  }),
  run({ config, upstream, isWritten }) {
    const value = isWritten("value") ? config.value : upstream;
    // What was told to say something that comes to nothing says nothing, in any format.
    const isNothing = value.trim() === "" && isWritten("value");
    return { output: config.format === "json" && !isNothing ? asJson(value) : value };
  },
});
