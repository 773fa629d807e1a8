import { z } from "zod";
import { defineNode } from "#server/engine/define-node.ts";

/** One value that a params trigger asks for (specification, Workflow node types; contract, section 4). */
export const TriggerParameter = z.object({
  name: z
    .string()
    .max(60)
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "Use letters, digits and underscores, not starting with a digit.")
    .meta({ title: "Name", description: "Read as {{trigger.name}}" }),
  label: z.string().max(120).default("").meta({ title: "Label" }),
  type: z.enum(["text", "number", "boolean", "select", "array", "object"]).default("text").meta({ title: "Type" }),
  required: z.boolean().default(false).meta({ title: "Required" }),
  default: z.unknown().optional().meta({ title: "Default" }),
  options: z.array(z.string().max(200)).max(200).optional().meta({ title: "Options", description: "Choices of a select" }),
});
export type TriggerParameter = z.infer<typeof TriggerParameter>;

export const triggerNode = defineNode({
  type: "triggerNode",
  title: "Trigger",
  summary: "Starts the workflow",
  group: "trigger",
  hasInput: false,
  handles: null,
  isEffect: false,
  config: z.looseObject({
    kind: z
      .enum(["manual", "params"])
      .default("manual")
      .meta({ title: "Starts by", description: "manual: a text; params: a form of named values" }),
    default_input: z
      .string()
      .max(100_000)
      .default("")
      .meta({ title: "Default input", description: "Used when a run gives none", widget: "textarea" }),
    input_label: z.string().max(120).default("").meta({ title: "Input label", description: "Label of the field in the run form" }),
    parameters: z.array(TriggerParameter).max(50).default([]).meta({ title: "Parameters", widget: "parameters" }),
  }),
  problems({ kind, parameters }) {
    const names = parameters.map((parameter) => parameter.name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    const bare = parameters.find((parameter) => parameter.type === "select" && !parameter.options?.length);
    return [
      ...(kind === "params" && parameters.length === 0
        ? [{ field: "parameters", message: "Add at least one parameter, or start by a manual run." }]
        : []),
      ...(twice ? [{ field: "parameters", message: `Two parameters are named "${twice}". Rename one of them.` }] : []),
      ...(bare ? [{ field: "parameters", message: `Give "${bare.name}" at least one option to choose from.` }] : []),
    ];
  },
  run: ({ trigger }) => ({ output: trigger.output }),
});
