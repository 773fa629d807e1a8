import { expect, test } from "vitest";
import { Receiver, type Sent, sendInPieces } from "#server/platform/children/messages.ts";
import { PIECE } from "#server/shared/text-pieces.ts";

const LONG = "long 😀 ".repeat(PIECE);

/** Parts that are sent for a message. */
async function sentFor<Message>(message: Message): Promise<Sent<Message>[]> {
  const all: Sent<Message>[] = [];
  const to = {
    send: (sent: Sent<Message>, ...[, , done]: [unknown?, unknown?, (() => void)?]) => {
      all.push(structuredClone(sent));
      done?.();
      return true;
    },
  };
  await sendInPieces(to as never, message); // cast: of a process only what is used
  return all;
}

/** Characters of the longest text in a value. */
function longestIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longestIn));
}

test("a message with long texts arrives whole, and none of what is sent is long", async () => {
  const message = { request: { texts: [LONG, "short", `${LONG}!`], variables: { output: LONG, n: [1, null] } }, bytes: new Uint8Array(9) };
  const before = structuredClone(message);
  const sent = await sentFor(message);
  for (const one of sent) expect(longestIn(one)).toBeLessThanOrEqual(PIECE + 1);
  const receiver = new Receiver<typeof message>();
  const received = sent.map((one) => receiver.take(one));
  expect(received.slice(0, -1).every((one) => one === undefined)).toBe(true);
  expect(received.at(-1)).toEqual(before);
  expect(message).toEqual(before);
});

test("a text that stands several times in a message is sent once", async () => {
  const sent = await sentFor({ output: LONG, outputs: { a: LONG, b: LONG } });
  const characters = sent.reduce((sum, one) => sum + ("piece" in one ? one.piece.length : 0), 0);
  expect(characters).toBe(LONG.length);
});

test("a long text as the whole message, and one without long texts, arrive as they are", async () => {
  for (const message of [LONG, "ready", null, ["a", { b: undefined }]]) {
    const sent = await sentFor<unknown>(message);
    const receiver = new Receiver<unknown>();
    expect(sent.map((one) => receiver.take(one)).at(-1)).toEqual(message);
  }
});
