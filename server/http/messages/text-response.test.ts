import { expect, test } from "vitest";
import { textResponse } from "#server/http/messages/text-response.ts";
import { DeferredTexts, type StoredText } from "#server/platform/deferred-texts.ts";
import { newId } from "#server/platform/new-id.ts";

const MIB = 1024 * 1024;

/** A text as the database gives it: by whole characters. */
function stored(text: string): StoredText & { characters: number } {
  const whole = [...text];
  return {
    characters: 0,
    async *pieces(count) {
      for (let from = 0; from < whole.length; ) {
        const piece = whole.slice(from, from + count());
        from += piece.length;
        this.characters += piece.length;
        yield piece.join("");
      }
    },
  };
}

const answer = (texts: readonly StoredText[], account = newId()) => {
  const deferred = new DeferredTexts();
  const json = JSON.stringify({ before: 1, texts: texts.map((text) => deferred.defer(text)), after: "x" });
  return textResponse(json, 200, { "content-type": "application/json" }, { account, texts: deferred });
};

test.each([
  ["escapes", '"\\\n\u0001\u007f\u2028'.repeat(50_000)],
  ["characters of two units", "🧵a".repeat(150_000)],
  ["the length of a piece", "x".repeat(64 * 1024)],
  ["no character", ""],
])("sends a deferred text with %s as JSON.stringify writes it", async (_, text) => {
  const response = answer([stored(text), stored("second")]);

  expect(await response.text()).toBe(JSON.stringify({ before: 1, texts: [text, "second"], after: "x" }));
});

test("reads one piece of a text that the client stops reading", async () => {
  const text = stored("x".repeat(4 * MIB));
  const reader = answer([text]).body?.getReader();

  for (let reads = 0; reads < 3; reads++) await reader?.read();

  expect(text.characters).toBe(64 * 1024);
  await reader?.cancel();
});

test("refuses responses over the memory of an account", async () => {
  const account = newId();
  const responses = Array.from({ length: 127 }, () => answer([stored("x")], account));

  expect(() => answer([stored("x")], account)).toThrow("Too many large responses to your account wait to be read.");

  expect(answer([stored("x")]).status).toBe(200);
  await responses[0]?.body?.cancel();
  await responses[1]?.text();
  const [first, second] = [answer([stored("x")], account), answer([stored("x")], account)];
  for (const { body } of [...responses.slice(2), first, second]) await body?.cancel();
});

test("sends the response to a change however much its account has in memory", async () => {
  const account = newId();
  const text = "x".repeat(30 * MIB);
  const unread = textResponse(text, 200, {}, { account });

  expect(() => textResponse(text, 200, {}, { account })).toThrow("Too many large responses");
  const response = textResponse(text, 201, {}, { account, isOutcome: true });

  expect((await response.text()).length).toBe(text.length);
  await unread.body?.cancel();
});

test("sends one response larger than the memory of an account", async () => {
  const text = "x".repeat(40 * MIB);

  const response = textResponse(text, 200, {}, { account: newId() });

  expect((await response.text()).length).toBe(text.length);
});

test("ends a response whose text is deleted meanwhile with an error", async () => {
  const gone: StoredText = {
    async *pieces() {
      yield "x".repeat(64 * 1024);
      throw new Error("A text was deleted while it was sent.");
    },
  };

  await expect(answer([gone]).text()).rejects.toThrow();
});
