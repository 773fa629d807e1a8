import { z } from "zod";
import { CONDITION_HELP } from "#server/workflow/condition-schema.ts";
import { defineNode } from "#server/workflow/nodes/definition.ts";

const outcomeOf = (holds: boolean) => ({ output: holds ? "True" : "False", handle: holds ? "true" : "false" });

export const branchNode = defineNode({
  type: "branchNode",
  title: "Branch",
  summary: "Goes one of two ways, by a Python condition",
  group: "logic",
  hasInput: true,
  handles: ["true", "false"],
  refuses: { true: ["branchNode"], false: ["branchNode"] },
  passesContent: true,
  isEffect: false,
  config: z.looseObject({
    condition: z.string().max(10_000).default("").meta({
      title: "Condition",
      description: CONDITION_HELP,
      widget: "python",
    }),
  }),
  pin: (output) =>
    output === "True" || output === "False"
      ? { handle: output === "True" ? "true" : "false" }
      : { refusal: "A Branch leaves True or False behind. Write one of the two." },
  problems({ condition }, scope) {
    if (condition.trim() === "") return [{ field: "condition", message: 'Write a condition, for example: "yes" in output.lower()' }];
    const fault = scope.conditionFault?.(condition);
    return fault ? [{ field: "condition", message: fault }] : [];
  },
  run({ config, evaluate }) {
    const holds = evaluate(config.condition);
    return holds instanceof Promise ? holds.then(outcomeOf) : outcomeOf(holds);
  },
});
