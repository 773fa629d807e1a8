import { z } from "zod";
import { defineNode, type NodeContext, template } from "#server/workflow/nodes/definition.ts";

/**
 * Text as JSON when it is JSON (bare or in a code fence), pretty-printed.
 * @throws Error with a sentence when it is not
 */
async function asJson(value: string, { rewriteJson }: Pick<NodeContext<unknown>, "rewriteJson">): Promise<string> {
  const bare = value.replace(/^\s*```(?:json)?\s*\n?|\n?```\s*$/g, "");
  const written = await rewriteJson({ text: bare, as: "indented" });
  if ("text" in written) return written.text;
  if ("error" in written) throw new Error(written.error);
  throw new Error(`The value is not valid JSON, and this Output's format is json. It begins: ${value.slice(0, 200)}`);
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
  run(ctx) {
    const { config, upstream, isWritten } = ctx;
    const value = isWritten("value") ? config.value : upstream;
    // What was told to say something that comes to nothing says nothing, in any format.
    const isNothing = value.trim() === "" && isWritten("value");
    if (config.format !== "json" || isNothing) return { output: value };
    return asJson(value, ctx).then((output) => ({ output }));
  },
});
