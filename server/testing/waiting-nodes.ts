import { z } from "zod";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";

// Node types that wait for something else than people, for tests of the engine to put into the registry.

const HOUR_MS = 3_600_000;
const common = { summary: "", group: "logic", hasInput: true, handles: null, isEffect: false, config: z.looseObject({}) } as const;

export const timerNode: NodeDefinition = {
  ...common,
  type: "timerNode",
  title: "Timer",
  run: ({ now }) => ({ wait: { reason: "time", deadline: new Date(now().getTime() + HOUR_MS) } }),
  resume: ({ status }) => ({ output: status }),
};

/** Tokens of callbacks in the order in which their nodes began to wait. */
export const tokens: string[] = [];

export const callbackNode: NodeDefinition = {
  ...common,
  type: "callbackNode",
  title: "Callback",
  run({ now, callbackToken }) {
    const token = callbackToken();
    tokens.push(token);
    return { wait: { reason: "callback", deadline: new Date(now().getTime() + HOUR_MS), token } };
  },
  resume(end) {
    if (end.status === "expired") throw new Error("Nobody called in time.");
    return { output: String(end.outcome) };
  },
};
