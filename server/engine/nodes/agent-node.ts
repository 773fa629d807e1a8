import { z } from "zod";
import { defineNode, template } from "#server/engine/define-node.ts";

export const agentNode = defineNode({
  type: "agentNode",
  title: "Agent",
  summary: "Asks one of the project's agents",
  group: "agent",
  hasInput: true,
  handles: null,
  isEffect: true,
  config: z.looseObject({
    agent_id: z.string().max(64).default("").meta({ title: "Agent", widget: "agent" }),
    input: z
      .string()
      .max(200_000)
      .default("")
      .meta({ title: "Input", description: "What to ask; empty passes on what came before", widget: "textarea", ...template }),
    timeout: z.number().int().min(1).max(3600).default(120).meta({ title: "Timeout", description: "Most seconds to wait", advanced: true }),
    retries: z
      .number()
      .int()
      .min(0)
      .max(5)
      .default(2)
      .meta({ title: "Retries", description: "Further tries when the provider is busy or the line drops", advanced: true }),
    on_error: z
      .enum(["fail", "continue"])
      .default("fail")
      .meta({ title: "On error", description: "fail ends the run; continue passes the error on as text", advanced: true }),
  }),
  alias: ({ agent_id }, scope) => scope.agentName(agent_id),
  problems({ agent_id }, scope) {
    if (!agent_id) return [{ field: "agent_id", message: "Choose an agent." }];
    if (!scope.agentName(agent_id))
      return [{ field: "agent_id", message: "The agent that this node names is not in this project. Choose another." }];
    return [];
  },
  run: ({ config, upstream, callAgent }) =>
    callAgent({
      agent_id: config.agent_id,
      message: config.input.trim() === "" ? upstream : config.input,
      timeout: config.timeout,
      retries: config.retries,
    }),
});
