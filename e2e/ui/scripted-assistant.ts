import { randomUUID } from "node:crypto";
import type { ScriptStep } from "#e2e/fakes/scripted-model.ts";
import { test as base, expect } from "#e2e/fixtures.ts";

/** Journeys with the assistant, on a model that follows each test's own script. */
export const test = base.extend<{
  /** Has the assistant of the person's project follow this script. */
  assistant(steps: readonly ScriptStep[]): Promise<void>;
}>({
  assistant: async ({ person, llmKey, modelServer, baseURL }, use) =>
    use(async (steps) => {
      const id = randomUUID();
      await modelServer.script(id, steps);
      const answer = await person.browser.put(`${baseURL}/api/v1/bridge/settings`, {
        headers: { origin: baseURL },
        data: { llm_key_id: (await llmKey()).id, model: `script-${id}` },
      });
      expect(answer.status(), await answer.text()).toBe(200);
    }),
});
