import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { preparedDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, signedIn } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";

const key = `sk-service-${"weavings".repeat(5)}`;
const env = firstUser(key);

test("kill -9 while the assistant speaks: what it said is kept, it says that it was cut off, and goes on with the next message", () =>
  proveThatItSaysSo((server) => server.kill9()));

test("a process that is told to stop while the assistant speaks says so at once, and leaves the next message to the next process", () =>
  proveThatItSaysSo((server) => server.stop()));

async function proveThatItSaysSo(end: (server: Treadle) => Promise<unknown>): Promise<void> {
  const models = await startModelServer();
  const [script, gate] = [randomUUID(), randomUUID()];
  models.script(script, [
    { when: "Begin", say: "I have begun and now this", gate },
    { when: "Ask", calls: [{ name: "ask_user", args: { question: "Which?", options: [] } }] },
    { when: "Go on", say: "I go on." },
  ]);
  const dataDir = preparedDataDir();
  let server = await startTreadle({ dataDir, env });
  let call = await signedIn(server.url);
  const llm = { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url };
  const { id: llm_key_id } = await call("POST", "/llm-keys", llm);
  await call("PUT", "/bridge/settings", { llm_key_id, model: `script-${script}` });
  const thread = async (content: string): Promise<string> => {
    const { id } = await call("POST", "/bridge/threads", {});
    await call("POST", `/bridge/threads/${id}/messages`, { content });
    return id;
  };
  const messages = async (id: string) => (await call("GET", `/bridge/threads/${id}`)).messages;
  const [spoken, asked] = [await thread("Begin"), await thread("Ask me")];
  await until(async () => (await messages(spoken))[0].answer === "I have" && (await messages(asked))[0].status === "waiting");
  await call("POST", `/bridge/threads/${spoken}/messages`, { content: "Go on" });

  await end(server);
  server = await startTreadle({ dataDir, env });
  call = await signedIn(server.url);
  await until(async () => (await messages(spoken))[1].status === "done", 60_000);
  expect(await messages(spoken)).toMatchObject([
    { status: "failed", answer: "I have", error: expect.stringContaining("cut off") },
    { status: "done", answer: "I go on." },
  ]);
  expect(await messages(asked)).toMatchObject([{ status: "failed", error: expect.stringContaining("cut off") }]);
  await server.stop();
  await models.stop();
}
