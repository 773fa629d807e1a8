import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";

const latin = (text: string) => Buffer.from(text, "latin1");
const packed = gzipSync("hello world");

/** Whole answers of a server. Each is also sent up to every byte of it. */
const ANSWERS: Record<string, Buffer> = {
  "a length": latin("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"),
  chunks: latin("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n"),
  "no length": latin("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello world"),
  gzip: Buffer.concat([latin(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`), packed]),
  "no content": latin("HTTP/1.1 204 No Content\r\n\r\n"),
  "not modified": latin("HTTP/1.1 304 Not Modified\r\nContent-Length: 11\r\n\r\n"),
  "101 with Upgrade": latin("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nframes"),
  "101 without Upgrade": latin("HTTP/1.1 101 Switching Protocols\r\n\r\nframes"),
  "200 with Upgrade": latin("HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok"),
  "100 only": latin("HTTP/1.1 100 Continue\r\n\r\n"),
  "103 before 200": latin("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
  "1xx without end": latin("HTTP/1.1 102 Processing\r\n\r\n".repeat(200)),
  "an unknown status": latin("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok"),
  "two answers": latin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
  "another protocol": latin("SSH-2.0-OpenSSH_9.6\r\n"),
  nothing: latin(""),
};

interface Play {
  method: "GET" | "POST" | "HEAD" | "CONNECT";
  answer: string;
  /** Share of the answer's bytes that is sent. */
  share: number;
  /** Action of the server after these bytes. */
  ending: "fin" | "reset" | "open";
  /** True when the request comes on a connection that has served another one. */
  isReused: boolean;
  /** When the caller aborts: as soon as the request has arrived, after the bytes, or never. */
  abort: "arrival" | "bytes" | "never";
  /** Action of the caller on the body. */
  reading: "text" | "late" | "cancel";
}

const plays: fc.Arbitrary<Play> = fc.record({
  method: fc.constantFrom("GET", "GET", "POST", "HEAD", "CONNECT"),
  answer: fc.constantFrom(...Object.keys(ANSWERS)),
  share: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  ending: fc.constantFrom("fin", "reset", "open"),
  isReused: fc.boolean(),
  abort: fc.constantFrom("arrival", "bytes", "never"),
  reading: fc.constantFrom("text", "late", "cancel"),
});

/** Makes one call against a socket server that plays its part, and reads the answer. */
async function settled({ method, answer, share, ending, isReused, abort, reading }: Play) {
  const stop = new AbortController();
  const open = new Set<Socket>();
  const ended = Promise.withResolvers<void>();
  const bytes = ANSWERS[answer] ?? Buffer.alloc(0);
  let isPlaying = false;
  let requests = 0;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined);
    socket.on("data", () => {
      if (!isPlaying) return void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      requests += 1;
      if (abort === "arrival") stop.abort();
      socket.write(bytes.subarray(0, Math.round(bytes.length * share)), () => {
        if (ending === "fin") socket.end();
        if (ending === "reset") socket.resetAndDestroy();
        // A connection that stays open is the caller's to give up.
        if (abort === "bytes" || ending === "open") setImmediate(() => stop.abort());
        ended.resolve();
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    if (isReused) await (await guardedFetch("any")(url)).text();
    isPlaying = true;
    const response = await guardedFetch("any")(url, { method, signal: stop.signal, ...(method === "POST" && { body: "{}" }) });
    if (reading === "late") await ended.promise.then(() => nextTurn());
    if (reading === "cancel") await response.body?.cancel();
    else await response.text();
    return { result: "answer", requests };
  } catch {
    return { result: "error", requests };
  } finally {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

test("settles on every end of a connection", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(plays, async (play) => void (await settled(play))),
    { numRuns: 600 },
  );
});

const plain = { method: "GET", share: 1, isReused: false, abort: "never", reading: "text" } as const;

test.each(["101 with Upgrade", "101 without Upgrade"])("fails when the server answers %s", async (answer) => {
  for (const isReused of [false, true])
    expect(await settled({ ...plain, answer, ending: "fin", isReused })).toMatchObject({ result: "error" });
});

test("sends a request once when its answer breaks off on a reused connection", async () => {
  const play: Play = { ...plain, method: "POST", answer: "chunks", share: 0.7, ending: "reset", isReused: true };

  expect(await settled(play)).toEqual({ result: "error", requests: 1 });
});

test("closes the connection of a server that switches protocols", async () => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on("close", () => closed.resolve()).on("error", () => undefined);
    socket.once("data", () => socket.write(ANSWERS["101 with Upgrade"] ?? ""));
  });
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");

  const call = guardedFetch("any")(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);

  await expect(call).rejects.toThrow("status 101");
  await closed.promise;
});
