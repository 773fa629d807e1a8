import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { createFront } from "#server/http/front/front.ts";
import { textResponse } from "#server/http/messages/text-response.ts";

const MIB = 1024 * 1024;
const settings = {
  TRUST_PROXY: false,
  RATE_LIMIT_PER_MINUTE: 0,
  RATE_LIMIT_BURST: 0,
  RATE_LIMIT_WEB: 0,
  MAX_BODY_BYTES: 4 * MIB,
  INNGEST_DEV: false,
  TREADLE_FRONT_TOKEN: "front-token",
};

async function start(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void, stallMs?: number) {
  const front = createFront({ handle, settings, ...(stallMs !== undefined && { stallMs }) });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return port;
}

/** Sends a request and reads nothing of the response but its first line. */
function askWithoutReading(port: number): Promise<{ socket: Socket; status: string }> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  socket.write("GET /api/v1/large HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n");
  return new Promise((resolve) =>
    socket.once("data", (chunk) => {
      socket.pause();
      resolve({ socket, status: String(chunk).split(" ")[1] ?? "" });
    }),
  );
}

/** Sends a response as Next does: its headers first, then piece by piece. */
async function sendInPieces(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.flushHeaders();
  // cast: the stream class of node:stream/web is the global one, declared twice
  await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => undefined);
}

const SIZE = 15 * MIB;
const large = "x".repeat(SIZE);

test.each([
  ["in pieces with a length", (response: ServerResponse) => sendInPieces(textResponse(large, 200, {}), response)],
  ["whole with a length", (response: ServerResponse) => void response.writeHead(200, { "content-length": SIZE }).end(large)],
  ["whole without a length", (response: ServerResponse) => void response.end(large)],
])("holds at most 64 MiB for a client that reads no response sent %s", async (_, send) => {
  const port = await start((_, response) => send(response));

  const asked = await Promise.all(Array.from({ length: 60 }, () => askWithoutReading(port)));

  const counts = Map.groupBy(asked, ({ status }) => status);
  expect([counts.get("200")?.length, counts.get("429")?.length]).toEqual([4, 56]);
  for (const { socket } of asked) socket.destroy();
  await expect.poll(async () => (await askWithoutReading(port)).status).toBe("200");
});

test("closes the connection of a client that stops reading", async () => {
  const closed = Promise.withResolvers<void>();
  const port = await start((_, response) => {
    response.once("close", closed.resolve).end(large);
  }, 150);

  await askWithoutReading(port);

  await closed.promise;
});

test("closes the connection of a client that sends without reading", async () => {
  const closed = Promise.withResolvers<void>();
  const port = await start((_, response) => {
    response.once("close", closed.resolve).end(large);
  }, 150);

  const { socket } = await askWithoutReading(port);
  const timer = setInterval(() => socket.write("G"), 20);
  onTestFinished(() => clearInterval(timer));

  await closed.promise;
});

test("sends a whole large response to a client that reads", async () => {
  const port = await start((_, response) => sendInPieces(textResponse(large, 200, {}), response), 150);

  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/large`);

  expect(answer.headers.get("content-length")).toBe(String(SIZE));
  expect(answer.headers.get("cache-control")).toBe("no-store, no-transform");
  expect(await answer.text()).toHaveLength(SIZE);
});

test("leaves a stream open that has nothing to send", async () => {
  const closed = Promise.withResolvers<void>();
  const port = await start((request, response) => {
    if (request.url === "/api/v1/stream") response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    else response.once("close", closed.resolve).end(large);
  }, 60);
  const reader = (await fetch(`http://127.0.0.1:${port}/api/v1/stream`)).body?.getReader();
  await reader?.read();

  // The time has passed once another connection is closed for it.
  await askWithoutReading(port);
  await closed.promise;

  expect(await Promise.race([reader?.read(), Promise.resolve("open")])).toBe("open");
  await reader?.cancel();
});
