import type { CallFilter, ModelCall } from "#e2e/fakes/model-server.ts";
import type { ScriptStep } from "#e2e/fakes/scripted-model.ts";

/** The model stand-in, seen from another process than the one that it runs in. */
export interface ModelClient {
  /** Base URL for an LLM key. */
  url: string;
  /** The chat completions that were asked for; filter by a text that only this test's messages hold. */
  calls(filter: CallFilter): Promise<ModelCall[]>;
  /** Lets the calls of the model `gate-<id>` go on. */
  release(id: string): Promise<void>;
  /** Says what the model `script-<id>` answers, step by step. */
  script(id: string, steps: readonly ScriptStep[]): Promise<void>;
}

export function modelClient(url: string): ModelClient {
  const { origin } = new URL(url);
  return {
    url,
    async calls(filter) {
      const response = await fetch(`${origin}/_calls?${new URLSearchParams({ ...filter })}`);
      return ((await response.json()) as { calls: ModelCall[] }).calls;
    },
    async release(id) {
      await fetch(`${origin}/_release?${new URLSearchParams({ id })}`, { method: "POST" });
    },
    async script(id, steps) {
      await fetch(`${origin}/_script?${new URLSearchParams({ id })}`, { method: "POST", body: JSON.stringify(steps) });
    },
  };
}
