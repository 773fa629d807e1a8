import { z } from "zod";
import { defineNode, template } from "#server/workflow/nodes/definition.ts";

export const terminateNode = defineNode({
  type: "terminateNode",
  title: "Terminate",
  summary: "Ends the whole run here",
  group: "logic",
  hasInput: true,
  handles: [],
  isEffect: false,
  config: z.looseObject({
    status: z.enum(["completed", "failed"]).default("completed").meta({ title: "The run ends as" }),
    message: z
      .string()
      .max(10_000)
      .default("")
      .meta({
        title: "Message",
        description: "Kept as the node's output, and as the reason of a failed run",
        widget: "textarea",
        ...template,
      }),
  }),
  run: ({ config, upstream, isWritten }) => ({ end: { status: config.status, message: isWritten("message") ? config.message : upstream } }),
});
