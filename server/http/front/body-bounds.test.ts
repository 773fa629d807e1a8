import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { Pool } from "pg";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { createFront } from "#server/http/front/front.ts";

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

/** Bytes of bodies that got as far as the app. */
let taken = 0;
afterEach(() => {
  taken = 0;
});

/** An app that takes whatever comes before it answers. */
const greedy = (request: IncomingMessage, response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const answer = (status: number) => {
      response.writeHead(status, { "content-type": "text/html", location: "/elsewhere" }).end("<html>");
      resolve();
    };
    request.on("data", (chunk: Buffer) => {
      taken += chunk.length;
    });
    request.once("end", () => answer(302)).once("error", () => answer(500));
  });

async function start(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void = greedy): Promise<number> {
  const front = createFront({ handle, settings });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return port;
}

const written = (socket: Socket, bytes: Uint8Array | string) => new Promise<void>((resolve) => socket.write(bytes, () => resolve()));

/** Writes a whole request and only then reads. */
async function sendAll(port: number, path: string, bytes: number, isChunked: boolean): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
  await written(socket, `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${length}\r\n\r\n`);
  const piece = Buffer.alloc(MIB, " ");
  for (let sent = 0; sent < bytes; sent += MIB)
    await written(socket, isChunked ? Buffer.concat([Buffer.from("100000\r\n"), piece, Buffer.from("\r\n")]) : piece);
  if (isChunked) await written(socket, "0\r\n\r\n");
  return text(socket);
}

test.each([
  ["/api/v1/workflows", 4 * MIB],
  ["/api/trpc/projects.create", 4 * MIB],
  ["/api/auth/callback/credentials", 64 * 1024],
  ["/sign-in", 64 * 1024],
  ["/api/inngest", 4 * MIB],
])("whoever writes 100 MB to %s before reading gets a 413, and no more than its bound gets in", async (path, bound) => {
  const port = await start();
  for (const isChunked of [false, true]) {
    const answer = await sendAll(port, path, 100 * MIB, isChunked);
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 413 /);
    expect(head.toLowerCase()).toContain("connection: close");
    expect(head.toLowerCase()).not.toContain("location");
    expect(JSON.parse(body)).toMatchObject({ error_code: "PAYLOAD_TOO_LARGE", status: 413, detail: expect.stringContaining("limit") });
    expect(taken).toBeLessThanOrEqual(bound);
  }
});

/** Sends a body in chunks of the same size. */
async function sendChunks(port: number, count: number, bytes: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const chunk = `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`;
  const head = "POST /api/v1/webhooks/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  await written(socket, `${head}${chunk.repeat(count)}0\r\n\r\n`);
  return text(socket);
}

test("refuses a body of many tiny chunks, and takes in no more than 1,000 of them", async () => {
  const answer = await sendChunks(await start(), 20_000, 1);

  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain("in pieces of less than 64 bytes");
  expect(taken).toBeLessThanOrEqual(1000);
});

test.each([
  [1000, 1],
  [5000, 100],
])("takes a body of %i chunks of %i bytes", async (count, bytes) => {
  expect(await sendChunks(await start(), count, bytes)).toMatch(/^HTTP\/1\.1 302 /);
  expect(taken).toBe(count * bytes);
});

test("whoever is answered without having been read can read the answer", async () => {
  const port = await start((_, response) => void response.writeHead(401, { "content-type": "application/json" }).end("{}"));
  for (const isChunked of [false, true]) expect(await sendAll(port, "/api/v1/workflows", 4 * MIB, isChunked)).toMatch(/^HTTP\/1\.1 401 /);
  expect(await sendAll(port, "/api/v1/workflows", 100 * MIB, true)).toMatch(/^HTTP\/1\.1 401 /);
});

test("a body of just the bound is let in, and the connection serves the next request", async () => {
  const port = await start((request, response) => {
    request.resume().once("end", () => response.end("in"));
  });
  const socket = connect(port, "127.0.0.1");
  const request = (bytes: number, rest = "") =>
    `POST /sign-in HTTP/1.1\r\nHost: a\r\n${rest}Content-Length: ${bytes}\r\n\r\n${" ".repeat(bytes)}`;
  await written(socket, request(64 * 1024) + request(200_000) + request(1, "Connection: close\r\n"));
  expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 413", "HTTP/1.1 200"]);
});

test("whoever asks first whether the body is welcome is told before sending it", async () => {
  const port = await start();
  const ask = async (bytes: number) => {
    const socket = connect(port, "127.0.0.1");
    await written(
      socket,
      `POST /sign-in HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    const first = await new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
    socket.destroy();
    return first.split("\r\n")[0];
  };
  expect([await ask(10), await ask(10 * MIB)]).toEqual(["HTTP/1.1 100 Continue", "HTTP/1.1 413 Payload Too Large"]);
});

test("bodies that come slowly have a bound together, and what they held is free again once they are gone", async () => {
  const port = await start();
  const slow: Socket[] = [];
  onTestFinished(() => {
    for (const socket of slow) socket.destroy();
  });
  // Each stays below its own bound and never ends.
  for (let n = 0; n < 30; n++) {
    const socket = connect(port, "127.0.0.1");
    slow.push(socket);
    await written(socket, `POST /api/v1/webhooks/x HTTP/1.1\r\nHost: a\r\nContent-Length: ${4 * MIB}\r\n\r\n`);
    void written(socket, Buffer.alloc(3 * MIB));
  }
  let refused = 0;
  for (const socket of slow) socket.once("data", (chunk) => void (/^HTTP\/1\.1 429 /.test(String(chunk)) && refused++));
  // 21 of them fit into 64 MiB.
  await expect.poll(() => refused).toBeGreaterThanOrEqual(9);
  for (const socket of slow) socket.destroy();
  await expect.poll(() => sendAll(port, "/api/trpc/x", 3 * MIB, true)).toMatch(/^HTTP\/1\.1 302 /);
});

test("a body that is refused while the limits of its address are read is answered, though nobody has begun to read it", async () => {
  let answered = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const query = () => isAnswered.then(() => ({ rows: [{ is_allowed: true, ages: [] }] }));
  const counters = { query } as unknown as Pool; // cast: all of it that is used
  const front = createFront({ handle: greedy, settings: { ...settings, RATE_LIMIT_PER_MINUTE: 60, MAX_BODY_BYTES: 1024 }, counters });
  const requests: IncomingMessage[] = [];
  front.server.prependListener("request", (request) => void requests.push(request));
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  const answer = sendAll(port, "/api/v1/workflows", MIB, true);
  await expect.poll(() => requests[0]?.destroyed).toBe(true);
  answered();
  expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
});

test("a request that does not come is given up by the server's own clock", async () => {
  const { server } = createFront({ handle: greedy, settings });
  expect([server.headersTimeout, server.requestTimeout]).toEqual([60_000, 300_000]);
});
