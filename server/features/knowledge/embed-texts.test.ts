import type { ServerResponse } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { embedTexts, maxInputsOf } from "#server/features/knowledge/embed-texts.ts";
import { setSettings } from "#server/platform/settings.ts";
import { testEndpoint } from "#server/testing/ask-model.ts";
import { type ReceivedRequest, serveHttp } from "#server/testing/start-http-server.ts";

beforeAll(() => setSettings({ ALLOW_PRIVATE_NETWORK: "1" }));

interface Question {
  input: string[];
  encoding_format?: string;
}

const send = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

/** The vector of a text is its length, beside a one. */
const vectorOf = (text: string): unknown => [text.length, 1];

/** An embedding server that refuses what `refuse` gives a status and a sentence for. */
async function vectorServer(refuse: (question: Question) => [status: number, words: string] | undefined, vector = vectorOf) {
  const server = await serveHttp((response, _, { body }: ReceivedRequest) => {
    const question = body as Question;
    const refusal = refuse(question);
    if (refusal) return void send(response, refusal[0], { error: { message: refusal[1] } });
    const data = question.input.map((text, index) => ({ index, embedding: vector(text) }));
    send(response, 200, { data, usage: { prompt_tokens: question.input.length } });
  });
  const endpoint = testEndpoint(server.url);
  const count = { input_tokens: 0 };
  return {
    count,
    sizes: () => server.requests.map(({ body }) => (body as Question).input.length),
    formats: () => server.requests.map(({ body }) => (body as Question).encoding_format),
    maxInputs: () => maxInputsOf(endpoint, "small"),
    embed: (texts: string[]) => embedTexts(endpoint, "small", texts, count),
  };
}

/** Texts of the lengths from 1 on. */
const texts = (count: number) => Array.from({ length: count }, (_, index) => "x".repeat(index + 1));
const vectors = (count: number) => texts(count).map((text) => [text.length, 1]);

const limited =
  (most: number, status: number, words: string) =>
  ({ input }: Question): [number, string] | undefined =>
    input.length > most ? [status, words] : undefined;

test.each([
  [1, 422, "Input should be a valid string"],
  [10, 400, "batch size is invalid, it should not be larger than 10.: input.contents"],
  [32, 413, "batch size 64 > maximum allowed batch size 32"],
])("embeds at a server that takes %i inputs per call", async (most, status, words) => {
  const { embed } = await vectorServer(limited(most, status, words));

  await expect(embed(texts(64))).resolves.toEqual(vectors(64));
});

test("remembers how many inputs a server takes", async () => {
  const { embed, sizes, maxInputs } = await vectorServer(limited(10, 400, "too many inputs"));
  await embed(texts(64));
  const before = sizes().length;

  await embed(texts(20));

  expect(maxInputs()).toBe(8);
  expect(sizes().slice(before)).toEqual([8, 8, 4]);
});

test("counts the tokens of all calls", async () => {
  const { embed, count } = await vectorServer(limited(1, 400, "too many inputs"));

  await embed(texts(5));

  expect(count).toEqual({ input_tokens: 5 });
});

test("learns no limit from a text that is refused on its own", async () => {
  const { embed, maxInputs } = await vectorServer(({ input }) => (input.includes("bad") ? [400, "not this one"] : undefined));

  await expect(embed([...texts(7), "bad"])).rejects.toMatchObject({ message: expect.stringContaining("not this one") });
  expect(maxInputs()).toBe(64);
});

test("does not ask again with fewer inputs when the model is unknown", async () => {
  const { embed, sizes } = await vectorServer(() => [400, "The model small does not exist"]);

  await expect(embed(texts(4))).rejects.toMatchObject({ reason: "unknown_model" });
  expect(sizes()).toEqual([4]);
});

test.each([
  [400, "Unknown parameter: encoding_format"],
  [422, "Extra inputs are not permitted"],
])("embeds at a server that refuses encoding_format with %i", async (status, words) => {
  const { embed, formats, maxInputs } = await vectorServer(({ encoding_format }) => (encoding_format ? [status, words] : undefined));

  await expect(embed(texts(3))).resolves.toEqual(vectors(3));
  await embed(texts(3));

  expect(formats().at(-1)).toBeUndefined();
  expect(maxInputs()).toBe(64);
});

test("reads vectors in base64", async () => {
  const { embed } = await vectorServer(
    () => undefined,
    (text) => Buffer.from(Float32Array.from([text.length, 0.5]).buffer).toString("base64"),
  );

  await expect(embed(texts(2))).resolves.toEqual([
    [1, 0.5],
    [2, 0.5],
  ]);
});

test.each([
  [400, "the input length exceeds the context length"],
  [413, "Payload Too Large"],
  [500, "input is too large to process. increase the physical batch size"],
])("embeds the parts of a text that is over the model's length (%i)", async (status, words) => {
  const { embed, maxInputs } = await vectorServer(
    ({ input }) => (input.some((text) => text.length > 300) ? [status, words] : undefined),
    (text) => (text.startsWith("a") ? [2, 0] : [0, 5]),
  );

  const [first, long, last] = await embed(["a", `${"a".repeat(250)}${"b".repeat(250)}`, "b"]);

  expect([first, last]).toEqual([
    [2, 0],
    [0, 5],
  ]);
  expect((long?.[0] ?? 0) / (long?.[1] ?? 1)).toBeCloseTo(1);
  expect(maxInputs()).toBe(64);
});

test("cuts a long text outside of surrogate pairs", async () => {
  const seen: string[] = [];
  const { embed } = await vectorServer(({ input }) => {
    seen.push(...input);
    return input.some((text) => text.length > 150) ? [400, "too long"] : undefined;
  });

  await embed([`a${"😀".repeat(100)}`]);

  expect(seen.length).toBeGreaterThan(1);
  expect(seen.every((text) => text.isWellFormed())).toBe(true);
});

test.each([
  ["null", null, "with an empty vector in place of numbers"],
  ["text", "abc", "not with the vectors that were asked for"],
  ["nested lists", [[1, 2]], "not with the vectors that were asked for"],
])("names the server of an embedding that is %s", async (_, embedding, words) => {
  const { embed } = await vectorServer(
    () => undefined,
    (text) => (text === "xx" ? embedding : [1, 2]),
  );

  await expect(embed(texts(2))).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    isRetryable: false,
    message: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:\\d+ answered, but ${words}`)),
  });
});
