import { afterEach, expect, test } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { apiRoute } from "#server/http/streams/api-route.ts";
import { MAX_STREAMS_PER_ACCOUNT, MAX_STREAMS_PER_PROJECT, openStream } from "#server/http/streams/open-streams.ts";
import { sseResponse } from "#server/http/streams/sse.ts";
import { newId } from "#server/platform/new-id.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const opened: Response[] = [];
afterEach(async () => {
  for (const { body } of opened.splice(0)) await body?.cancel().catch(() => undefined);
});

async function* silence(signal: AbortSignal): AsyncGenerator<"idle"> {
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  yield "idle";
}

const stream = apiRoute<Record<string, never>>(async (_, { signal }) => sseResponse(silence(signal)), { keyNeeds: { scope: "read" } });
const failing = apiRoute<Record<string, never>>(
  async (_, { reserveStream }) => {
    reserveStream();
    throw new Error("The work before the stream failed.");
  },
  { keyNeeds: { scope: "read" } },
);

async function newCaller() {
  const { key } = await createPlatformKey(await database.newAdmin(), { name: "CI" });
  return async (route = stream) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await route(new Request("http://localhost/api/v1/stream", { headers }), { params: {} });
    opened.push(response);
    return response;
  };
}

test("refuses a stream over the limit of the account", async () => {
  const [open, openOther] = [await newCaller(), await newCaller()];
  for (let n = 0; n < MAX_STREAMS_PER_ACCOUNT; n++) expect((await open()).status).toBe(200);

  const refused = await open();

  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect(await refused.json()).toMatchObject({
    error_code: "RATE_LIMIT_EXCEEDED",
    detail: expect.stringContaining("This account has 100 event streams open"),
  });
  expect((await openOther()).status).toBe(200);
});

test("counts no stream that has ended", async () => {
  const open = await newCaller();
  for (let n = 0; n < MAX_STREAMS_PER_ACCOUNT; n++) await open();

  await opened[0]?.body?.cancel();

  expect((await open()).status).toBe(200);
});

test("counts no stream whose handler failed", async () => {
  const open = await newCaller();

  for (let n = 0; n <= MAX_STREAMS_PER_ACCOUNT; n++) expect((await open(failing)).status).toBe(500);

  expect((await open()).status).toBe(200);
});

test("refuses a stream over the limit of the project", () => {
  const project = newId();
  const ends = Array.from({ length: MAX_STREAMS_PER_PROJECT }, () => openStream(newId(), project));

  expect(() => openStream(newId(), project)).toThrow("This project has 1,000 event streams open");

  // Ending a stream twice frees one place.
  ends[0]?.();
  ends[0]?.();
  openStream(newId(), project);
  expect(() => openStream(newId(), project)).toThrow("1,000 event streams");
});
