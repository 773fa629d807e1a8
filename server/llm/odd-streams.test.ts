import { expect, test } from "vitest";
import { chatWithTools } from "#server/llm/chat-loop.ts";
import { readCompletion } from "#server/llm/read-completion.ts";
import { setSettings } from "#server/platform/settings.ts";
import { ask, delta, failure, json, refuse, smallQuestion, testClock } from "#server/testing/ask-model.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

setSettings({ ALLOW_PRIVATE_NETWORK: "1" });

// What servers send that is nearly, but not quite, what the format says.

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const end = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });

/** One stream, the same for every try. */
const streamOf = (...parts: string[]) =>
  serveHttp((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(parts.join(""));
  });

test.each<[string, string[]]>([
  ["an end with a blank after it", [event(delta("Hi")), "data: [DONE] \n\n"]],
  ["events without data", ["data: \n\n", event(delta("Hi")), "data:\n\n", end, "data: [DONE]\n\n"]],
  ["a message behind the end", [event(delta("Hi")), end, event({ choices: [], message: "Success" })]],
  ["a refusal beside an empty text", [event({ choices: [{ delta: { content: "", refusal: "Hi" } }] }), end]],
])("%s is understood", async (_, parts) => {
  const server = await streamOf(...parts);
  await expect(ask(server.url, { onDelta: () => undefined })).resolves.toMatchObject({ text: "Hi" });
});

test.each<[string, string, string]>([
  [
    "in a field of its own",
    'error: {"code":400,"message":"the request exceeds the available context size"}\n\n',
    "answered 400: the request exceeds the available context size.",
  ],
  ["as a detail", event({ detail: "The worker died." }), "stopped with an error: The worker died."],
  [
    "as a message before a good end",
    `${event({ message: "Internal failure", code: 500 })}data: [DONE]\n\n`,
    "answered 500: Internal failure.",
  ],
])("what goes wrong in the middle of an answer and is told %s is told on", async (_, told, message) => {
  const server = await streamOf(event(delta("half")), told);
  expect((await failure(ask(server.url, { onDelta: () => undefined }))).message).toContain(message);
});

test("a character that two pieces share is given out whole", async () => {
  const server = await streamOf(event(delta("a\ud83c")), event(delta("\udf89b")), end);
  const seen: string[] = [];
  expect((await ask(server.url, { onDelta: (piece) => seen.push(piece) })).text).toBe("a🎉b");
  expect(seen).toEqual(["a", "🎉b"]);
});

test.each(["", 'data: {"choices":[],"usage":{"pro'])("a line that drops after the whole answer, %j, costs nothing", async (more) => {
  const server = await serveHttp((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(delta("whole")) + end + more, () => response.destroy());
  });
  await expect(ask(server.url, { retries: 2, onDelta: () => undefined })).resolves.toMatchObject({ text: "whole" });
  expect(server.requests.length).toBe(1);
});

test("a line that is left open after the whole answer is let go, and what comes in time still counts", async () => {
  let isLetGo = false;
  const parts = [event(delta("whole")), end, event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } })];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = parts.shift();
      if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
      else return new Promise(() => undefined);
    },
    cancel() {
      isLetGo = true;
    },
  });
  const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
  await expect(readCompletion(response, undefined, 20)).resolves.toMatchObject({ text: "whole", input_tokens: 3, output_tokens: 1 });
  expect(isLetGo).toBe(true);
});

test("a tool call that was cut at the limit of the answer's length is not asked for again and again", async () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "note", arguments: '{"text": "half of' } };
  const server = await serveHttp((response) =>
    json(response, 200, { choices: [{ message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "length" }] }),
  );
  const note = { name: "note", description: "", parameters: { type: "object" }, call: async () => ({ result: "noted", success: true }) };
  const asked = { ...smallQuestion(server.url), tools: [note] };
  expect((await failure(chatWithTools({ ...asked, max_tokens: 20 }))).message).toBe(
    'The model echo of OpenAI-compatible reached the limit of its length in the middle of a tool call (LLM key "Main"). Raise the agent\'s longest answer (max_tokens), or leave it empty.',
  );
  expect((await failure(chatWithTools(asked))).message).toContain("Ask for less, or choose another model.");
  expect(server.requests.length).toBe(2);
});

test("a 429 that asks to wait no time at all is not asked again at once, and a 408 is asked again", async () => {
  const clock = testClock();
  const refusals: [number, Record<string, string>][] = [
    [429, { "retry-after": "0" }],
    [408, {}],
  ];
  const server = await serveHttp((response, index) => {
    const [status, headers] = refusals[index] ?? [];
    if (status) refuse(response, status, "not now", headers);
    else json(response, 200, { choices: [{ message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] });
  });
  await expect(ask(server.url, { retries: 2, clock })).resolves.toMatchObject({ text: "ok" });
  expect(clock.slept.length).toBe(2);
  expect(Math.min(...clock.slept)).toBeGreaterThan(200);
});

/** A stream that comes in these pieces. */
function answerOf(pieces: Iterable<string>): Response {
  const next = pieces[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = next.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

// Each of these took minutes of the process when all that had come was gone through again with each piece.
test("a long line in many pieces is put together once", async () => {
  const text = "x".repeat(12 * 1024 * 1024);
  const line = event(delta(text)) + end;
  const pieces = Array.from({ length: Math.ceil(line.length / 1000) }, (_, n) => line.slice(n * 1000, n * 1000 + 1000));
  expect((await readCompletion(answerOf(pieces))).text === text).toBe(true);
});

test("an answer that begins with blanks without end is gone through once", async () => {
  const piece = event(delta(" ".repeat(40)));
  const answer = await readCompletion(answerOf([...Array.from({ length: 200_000 }, () => piece), event(delta("Hi")), end]));
  expect(answer.text.trim()).toBe("Hi");
});

test("what a model says, thinks and asks tools for has a bound, whatever it comes in", async () => {
  const many = (each: (n: number) => object, count: number) =>
    readCompletion(answerOf(Array.from({ length: count }, (_, n) => event({ choices: [{ delta: each(n) }] }))));
  const mib = "x".repeat(1024 * 1024);
  await expect(many(() => ({ reasoning_content: mib }), 20)).rejects.toThrow("The answer is longer than 16 MiB.");
  const call = (n: number, args: string) => ({ tool_calls: [{ index: n, id: `c${n}`, function: { name: "go", arguments: args } }] });
  await expect(many((n) => call(n, "{}"), 200)).rejects.toThrow("The answer is longer than 128 tool calls.");
  await expect(many(() => call(0, mib), 20)).rejects.toThrow("The answer is longer than 4 MiB of arguments for tools.");
});
