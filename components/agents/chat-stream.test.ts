import { expect, test } from "vitest";
import { streamChat } from "#components/agents/chat-stream.ts";
import { applyChatEvent, citationsOf, historyOf, newExchange } from "#components/agents/chat-turns.ts";
import type { ChatEvent } from "#server/features/agents/schema.ts";

const encoder = new TextEncoder();

/** What a chat tells when the server sends these chunks. */
async function told(chunks: string[], init: ResponseInit = {}): Promise<ChatEvent[]> {
  const events: ChatEvent[] = [];
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
  await streamChat({
    agentId: "a",
    projectId: "p",
    message: "hi",
    history: [],
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
    fetch: async () => new Response(body, init),
  });
  return events;
}
const wire = (event: ChatEvent | { type: "later" }) => `id: 1\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const done = { type: "done", input_tokens: 1, output_tokens: 2, cost: null, agent_version: 3 } as const;

test("events come whole however the stream is cut, comments and unknown ones are passed over", async () => {
  const text = `: open\nretry: 2000\n\n${wire({ type: "delta", content: "schön" })}: keep-alive\n\n${wire({ type: "later" })}${wire(done)}`;
  const bytes = [...text].map((letter) => letter);
  expect(await told(bytes)).toEqual([{ type: "delta", content: "schön" }, done]);
});

test("a refusal, a broken line and a server that is away are errors in words", async () => {
  const refused = JSON.stringify({ detail: "Check the key.", error_code: "UPSTREAM_ERROR", status: 502 });
  expect(await told([refused], { status: 502 })).toEqual([{ type: "error", detail: "Check the key." }]);
  expect(await told(["<html>"], { status: 500 })).toEqual([{ type: "error", detail: expect.stringContaining("cannot be reached") }]);
  expect((await told([wire({ type: "delta", content: "x" })])).at(-1)).toEqual({
    type: "error",
    detail: expect.stringContaining("broke off"),
  });
});

test("an exchange gathers text and tools in their order, and results find their calls", () => {
  const call = (id: string) => ({ type: "tool_call", id, name: "find", args: { q: id } }) as const;
  const events: ChatEvent[] = [
    { type: "delta", content: "Let me " },
    { type: "delta", content: "look." },
    call("a"),
    call("b"),
    { type: "tool_result", id: "b", name: "find", result: "B", success: true },
    { type: "tool_result", id: "a", name: "find", result: "A", success: false },
    { type: "delta", content: "Found." },
    done,
  ];
  const exchange = events.reduce(applyChatEvent, newExchange(1, "hi"));
  expect(exchange).toMatchObject({ state: "done", input_tokens: 1, output_tokens: 2, cost: null });
  expect(exchange.parts).toEqual([
    { kind: "text", text: "Let me look." },
    { kind: "tool", id: "a", name: "find", args: { q: "a" }, answer: { result: "A", success: false } },
    { kind: "tool", id: "b", name: "find", args: { q: "b" }, answer: { result: "B", success: true } },
    { kind: "text", text: "Found." },
  ]);
  const failed = applyChatEvent(newExchange(2, "no"), { type: "error", detail: "Oh." });
  expect(historyOf([exchange, failed])).toEqual([
    { role: "user", content: "hi" },
    { role: "assistant", content: "Let me look.\n\nFound." },
  ]);
});

test("an exchange names the documents that its answer cites, and says when it was cut", () => {
  const source = (number: number, title: string, place = "") => ({
    number,
    title,
    place,
    rag_id: "r",
    document_id: `d${number}`,
    uri: null,
    excerpt: "",
    read_at: null,
  });
  const found = [source(1, "Prices", "Fruit › Pears"), source(2, "Rules"), source(3, "Opening hours", "Page 2"), source(4, "Map")];
  const answered = (content: string) =>
    [
      { type: "tool_call", id: "a", name: "search_knowledge", args: {} } as const,
      { type: "tool_result", id: "a", name: "search_knowledge", result: "", success: true, sources: found } as const,
      { type: "delta", content } as const,
      { ...done, truncated: true } as const,
    ].reduce(applyChatEvent, newExchange(1, "hi"));
  const numbers = (content: string) => citationsOf(answered(content)).map(({ number }) => number);
  expect(numbers("Three euro [2], open at nine 【4】[2].")).toEqual([2, 4]);
  expect(numbers("Both [1, 3] say so.")).toEqual([1, 3]);
  expect(numbers("As Prices (Pears) has it. The Map is old.")).toEqual([1]);
  expect(numbers("See list[12] and Opening hours.")).toEqual([]);
  expect(answered("x").isCut).toBe(true);
});
