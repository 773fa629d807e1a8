import { expect, test } from "vitest";
import { chatWithAgent, testAgent } from "#server/features/agents/chat.ts";
import type { ChatEvent } from "#server/features/agents/schema.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { createCredential } from "#server/features/credentials/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();
const { signal } = new AbortController();
const SECRET = "pass_word-4!2";

test("a chat and a test tell no secret of the project, in whatever pieces and spelling a model repeats it", async () => {
  const admin = await database.newAdmin();
  await createCredential(admin, { name: "TOKEN", value: SECRET });
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const spellings = [SECRET, "PASS_WORD-4!2", "pass\\_word-4\\!2", encodeURIComponent(SECRET), Buffer.from(SECRET).toString("hex")];
  const message = `${[...spellings, "test-key-0123456789", Buffer.from(SECRET).toString("base64")].join(", ")}. Not pass_wo`;
  for (const model of ["crumbs-1-0", "crumbs-7-0", "echo"]) {
    const agent = await createAgent(admin, { name: model, model, llm_key_id });
    const told: ChatEvent[] = [];
    await chatWithAgent(admin, { agent_id: agent.id, message, history: [] }, { signal, tell: (event) => told.push(event) });
    const shown = told.map((event) => ("content" in event ? event.content : "")).join("");
    expect(shown).toMatch(/^Echo: (••••, ){6}••••.{0,3}\. Not pass_wo$/);
    const { response } = await testAgent(admin, { agent_id: agent.id, message });
    expect(response).toBe(shown);
  }
  const agent = await createAgent(admin, { name: "Refuses", model: "quote-400", llm_key_id });
  const refused = testAgent(admin, { agent_id: agent.id, message });
  await expect(refused).rejects.toThrow(/Refused: (••••, ){6}••••.{0,3}\. Not pass_wo/);
});
