import { expect, test } from "vitest";
import { WithoutThinking } from "#server/llm/thinking.ts";
import { setSettings } from "#server/platform/settings.ts";
import { answered, ask, delta, json, stream } from "#server/testing/ask-model.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

setSettings({ ALLOW_PRIVATE_NETWORK: "1" });

/** What is given out of a text that comes in pieces of this length. */
function given(text: string, length: number, isCut = false): string {
  const thoughts = new WithoutThinking();
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${length}}`, "g")) ?? [];
  return [...pieces.map((piece) => thoughts.add(piece)), thoughts.end(isCut)].join("");
}

test.each([
  ["<think>\nLet me see. 2 < 3.\n</think>\n\nIt is three.", "It is three."],
  ["\n<think></think>Yes", "Yes"],
  ["<think>never ends", "<think>never ends"],
  [" <think> is the tag in which they think", " <think> is the tag in which they think"],
  ["<think>only</think>\n", ""],
  ["<thinking> is no tag of theirs", "<thinking> is no tag of theirs"],
  ["<", "<"],
  ["  Two blanks stay", "  Two blanks stay"],
  ["Write <think>so</think> in it", "Write <think>so</think> in it"],
  ["<think>a</think>b <think>c</think>", "b <think>c</think>"],
  ["", ""],
])("of %j is given out %j, however it is cut", (text, expected) => {
  for (const length of [1, 2, 3, 7, 100]) expect(given(text, length)).toBe(expected);
});

test("a thought that is cut at the limit of the answer's length is not its text", () => {
  for (const length of [1, 2, 3, 7, 100]) expect(given("<think>goes on and on", length, true)).toBe("");
});

test("thoughts in the text of an answer are no part of it, streamed or not", async () => {
  const server = await serveHttp((response, index) =>
    index === 0
      ? json(response, 200, answered("<think>Say hello.</think>\n\nHello"))
      : stream(response, ...["<th", "ink>Say ", "hello.</thi", "nk>\n", "\nHel", "lo"].map(delta)),
  );
  await expect(ask(server.url)).resolves.toMatchObject({ text: "Hello" });
  const pieces: string[] = [];
  await expect(ask(server.url, { onDelta: (piece) => pieces.push(piece) })).resolves.toMatchObject({ text: "Hello" });
  expect(pieces).toEqual(["Hel", "lo"]);
});
