import { expect, test } from "vitest";
import { type ChatLoopRequest, chatWithTools } from "#server/llm/chat-loop.ts";
import { setSettings } from "#server/platform/settings.ts";
import { ask, delta, failure, json, smallQuestion, stream, unpaid } from "#server/testing/ask-model.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

setSettings({ ALLOW_PRIVATE_NETWORK: "1" });

// Answers that came and are none, or not whole: they must not go on through a workflow as if they were.

const talk = (baseUrl: string, more: Partial<ChatLoopRequest> = {}) => chatWithTools({ ...smallQuestion(baseUrl), ...more });

const usage = { prompt_tokens: 3, completion_tokens: 4 };
const endsWith = (finish_reason: string, content: string | null = "") => ({
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason }],
  usage,
});

test.each(["content_filter", "SAFETY", "refusal"])(
  "an answer that ends with %s is a failure that tells what there was of it",
  async (reason) => {
    const server = await serveHttp((response) => json(response, 200, endsWith(reason, "half of it")));
    const used: unknown[] = [];
    const error = await failure(talk(server.url, { retries: 2, meter: unpaid((count) => used.push(count)) }));
    expect(error.message).toBe(
      'The model echo of OpenAI-compatible was stopped by a content filter of the provider (LLM key "Main"). Change the message or the agent\'s instructions, or choose another model. It said: half of it',
    );
    expect([server.requests.length, used]).toEqual([1, [{ input_tokens: 3, cached_tokens: 0, output_tokens: 4 }]]);
  },
);

test("a model that thought until its limit, and said nothing, is a failure that names the limit", async () => {
  const server = await serveHttp((response) => json(response, 200, endsWith("length")));
  expect((await failure(talk(server.url, { max_tokens: 2000 }))).message).toBe(
    'The model echo of OpenAI-compatible used up its 2,000 tokens before it said anything (LLM key "Main"). Reasoning models think within that limit: raise the agent\'s longest answer (max_tokens), or leave it empty.',
  );
  expect((await failure(talk(server.url))).message).toContain("reached the limit of its length before it said anything");
  // The tiny call at a save may end so: key and model work.
  await expect(ask(server.url, { max_tokens: 16 })).resolves.toMatchObject({ text: "", isCut: true });
});

test("an answer that was cut at its limit is told as such, one that was not is not", async () => {
  const server = await serveHttp((response, index) => json(response, 200, endsWith(index === 0 ? "length" : "stop", "half of it")));
  await expect(talk(server.url)).resolves.toMatchObject({ text: "half of it", truncated: true });
  expect(await talk(server.url)).not.toHaveProperty("truncated");
});

test("an end in an error is one, and asked for again", async () => {
  const server = await serveHttp((response, index) => json(response, 200, endsWith(index === 0 ? "error" : "stop", "all of it")));
  await expect(talk(server.url, { retries: 1 })).resolves.toMatchObject({ text: "all of it" });
  expect(server.requests.length).toBe(2);
});

test("a piece that was damaged in the middle of an answer is a line that broke, whatever the address", async () => {
  const server = await serveHttp((response, index) => {
    if (index > 0) return stream(response, delta("whole"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(delta("ha"))}\n\ndata: {"choices": [{"del\n\n`);
  });
  const seen: string[] = [];
  const more = { retries: 1, onDelta: (piece: string) => seen.push(piece), onRestart: () => seen.push("(restart)") };
  expect((await talk(server.url, more)).text).toBe("whole");
  expect(seen).toEqual(["ha", "(restart)", "whole"]);
});

test("an answer without end is given up once, with what to do", async () => {
  const server = await serveHttp((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const piece = `data: ${JSON.stringify(delta("x".repeat(1_000_000)))}\n\n`;
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  });
  const error = await failure(talk(server.url, { retries: 2 }));
  expect(error.message).toBe(
    'OpenAI-compatible was cut off (model echo, LLM key "Main"): The answer is longer than 16 MiB. Set the agent\'s longest answer (max_tokens), or choose another model.',
  );
  expect(server.requests.length).toBe(1);
});
