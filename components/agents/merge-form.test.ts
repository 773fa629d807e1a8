import { expect, test } from "vitest";
import { formValues, mergeForm, needsCheckCall } from "#components/agents/agent-values.ts";

const before = formValues({ name: "Scout", model: "echo", llm_key_id: "k", system_prompt: "Be brief." });

test("what others changed comes into the form, what was changed in it stays, and only a difference is a clash", () => {
  const mine = { ...before, description: "Finds", system_prompt: "Be long.", tools: ["web_search" as const] };
  const theirs = { ...before, model: "parrot", system_prompt: "Be kind.", tools: ["web_search" as const] };
  expect(mergeForm({ before, mine, theirs })).toEqual({
    values: { ...mine, model: "parrot" },
    taken: ["model"],
    clashes: ["system_prompt"],
  });
});

test("a check call is told of only when the model is asked otherwise, or gets its first tool", () => {
  const reworded = { ...before, system_prompt: "Be kind.", max_tokens: 5 };
  expect(needsCheckCall(before, reworded)).toBe(false);
  expect(needsCheckCall(before, { ...before, temperature: 0 })).toBe(true);
  const equipped = { ...before, rag_ids: ["r"] };
  expect(needsCheckCall(before, equipped)).toBe(true);
  expect(needsCheckCall(equipped, { ...equipped, tools: ["web_search"] })).toBe(false);
});
