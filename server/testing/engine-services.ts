import { runCode } from "#server/runs/effects/code.ts";
import { evaluateCondition } from "#server/runs/effects/conditions.ts";
import { readLongTexts, rewriteLongJson } from "#server/runs/effects/expressions.ts";
import { callHttp } from "#server/runs/effects/http-call.ts";
import type { EngineServices } from "#server/runs/ports.ts";
import type { memoryStore } from "#server/testing/memory-store.ts";

/** The run loop's ports over a store in memory; what a test does not hand in does nothing. */
export const testServices = (memory: Pick<ReturnType<typeof memoryStore>, "store">, own: Partial<EngineServices> = {}): EngineServices => ({
  store: memory.store,
  clock: { now: () => new Date() },
  agentNames: async () => new Map(),
  credentials: async () => new Map(),
  callAgent: async () => ({ output: "" }),
  evaluate: evaluateCondition,
  readLong: readLongTexts,
  rewriteJson: rewriteLongJson,
  runCode,
  callHttp,
  callback: (id) => ({ token: id, url: `http://localhost/resume/${id}` }),
  reviewsOpened: () => undefined,
  childrenWanted: () => undefined,
  childEnded: () => undefined,
  parentEnded: () => undefined,
  runFailed: () => undefined,
  ...own,
});
