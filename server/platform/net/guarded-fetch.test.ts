import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import { AddressRefused } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { encodedBomb } from "#server/testing/bombs.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

test("sends method, headers and body, and gives back status, headers and text", async () => {
  const server = await serveHttp((response) => response.writeHead(201, { "x-made": "yes" }).end("größer"));
  const response = await guardedFetch("any")(`${server.url}/v1/things?a=1`, {
    method: "POST",
    headers: { authorization: "Bearer k" },
    body: JSON.stringify({ text: "ü" }),
  });
  expect([response.status, response.headers.get("x-made"), await response.text()]).toEqual([201, "yes", "größer"]);
  expect(server.requests).toEqual([
    expect.objectContaining({
      method: "POST",
      path: "/v1/things?a=1",
      body: { text: "ü" },
      headers: expect.objectContaining({ authorization: "Bearer k" }),
    }),
  ]);
});

test("reaches no private address when only public ones are allowed, by number or by name", async () => {
  const server = await serveHttp((response) => response.end("secret"));
  const port = new URL(server.url).port;
  await expect(guardedFetch("public")(server.url)).rejects.toBeInstanceOf(AddressRefused);
  await expect(guardedFetch("public")(`http://localhost:${port}`)).rejects.toBeInstanceOf(AddressRefused);
  expect(server.requests).toEqual([]);
});

test("a connection opened by a call that may go further is not taken by one that may not", async () => {
  const server = await serveHttp((response) => response.end("ok"));
  const named = `http://localhost:${new URL(server.url).port}`;
  const url = await guardedFetch("any")(named).then(
    () => named,
    () => server.url, // where localhost means only ::1
  );
  await expect(guardedFetch("public")(url)).rejects.toBeInstanceOf(AddressRefused);
});

test("does not follow redirects", async () => {
  const server = await serveHttp((response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end());
  const response = await guardedFetch("any")(server.url);
  expect([response.status, server.requests.length]).toEqual([302, 1]);
});

test("unpacks what a server compresses unasked", async () => {
  const server = await serveHttp((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed")));
  await expect(guardedFetch("any")(server.url).then((response) => response.text())).resolves.toBe("packed");
});

test("an abort ends the call while the answer is being read", async () => {
  let isCut: () => void = () => undefined;
  const cut = new Promise<void>((resolve) => {
    isCut = resolve;
  });
  const server = await serveHttp((response) => {
    response.on("close", isCut);
    response.writeHead(200).write("first");
  });
  const stop = new AbortController();
  const response = await guardedFetch("any")(server.url, { signal: stop.signal });
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
  stop.abort();
  await expect(reader?.read()).rejects.toThrow();
  await cut;
});

test("a line cut in the middle of an answer is an error for who reads", async () => {
  const server = await serveHttp((response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setImmediate(() => response.destroy());
  });
  await expect(guardedFetch("any")(server.url).then((response) => response.text())).rejects.toThrow();
});

test("a kept-alive connection that the server closed is opened anew", async () => {
  const server = await serveHttp((response, index) => {
    if (index === 1) return response.destroy();
    response.end(`answer ${index}`);
  });
  const ask = () => guardedFetch("any")(server.url).then((response) => response.text());
  await expect(ask()).resolves.toBe("answer 0");
  await expect(ask()).resolves.toBe("answer 2");
});

test("a request that was cut after a while on a kept-alive connection is not made again: it may have been worked on", async () => {
  const server = await serveHttp((response, index) => {
    if (index === 0) return response.end("kept");
    vi.setSystemTime(Date.now() + 2000);
    response.destroy();
  });
  const ask = () => guardedFetch("any")(server.url).then((response) => response.text());
  await ask();
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  await expect(ask()).rejects.toThrow();
  expect(server.requests).toHaveLength(2);
});

test("a connection serves the next request when an answer is given up right before its end", async () => {
  const ports: (number | undefined)[] = [];
  const server = createServer((request, response) => {
    ports.push(request.socket.remotePort);
    response.write("data: [DONE]\n\n");
    setImmediate(() => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const askAndGiveUp = async () => {
    const reader = (await guardedFetch("any")(`http://127.0.0.1:${port}/`)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
  };
  // The end comes a moment later; a request made before it opens a connection of its own.
  await until(async () => {
    await askAndGiveUp();
    return new Set(ports).size < ports.length;
  });
  server.closeAllConnections();
  server.close();
});

test("an answer that goes on is cut when it is given up", async () => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.socket.on("close", () => closed.resolve());
    response.write("data: more to come\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const reader = (await guardedFetch("any")(`http://127.0.0.1:${port}/`)).body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await closed.promise;
  server.close();
});

test("an answer that nobody reads gives its connection back when it is given up", async () => {
  const server = createServer((_, response) => response.writeHead(302, { location: "/elsewhere" }).end("x".repeat(100_000)));
  let open = 0;
  server.on("connection", (socket) => {
    open += 1;
    socket.on("close", () => {
      open -= 1;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (let n = 0; n < 5; n++) await (await guardedFetch("any")(`http://127.0.0.1:${port}/`)).body?.cancel();
  await until(() => open === 0, 4000);
  server.close();
});

test.each([0, 20_000])("an abort right after an answer of %i letters is given up unread ends nothing else", async (length) => {
  const server = createServer((_, response) => response.end("x".repeat(length)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const unheard: unknown[] = [];
  const note = (error: unknown) => unheard.push(error);
  process.on("uncaughtExceptionMonitor", note);
  for (let turn = 0; turn < 5; turn += 1) {
    const stop = new AbortController();
    const response = await guardedFetch("any")(`http://127.0.0.1:${port}/`, { signal: stop.signal });
    void response.body?.cancel();
    stop.abort();
    // The error would come once the connection is cut, before another one has answered.
    await (await guardedFetch("any")(`http://127.0.0.1:${port}/`)).text();
  }
  process.off("uncaughtExceptionMonitor", note);
  expect(unheard).toEqual([]);
  server.closeAllConnections();
  server.close();
});

test("ends an answer that comes in tiny chunks", async () => {
  const server = createTcpServer((socket) => {
    const chunks = `${"1\r\na\r\n".repeat(200_000)}0\r\n\r\n`;
    socket.on("error", () => undefined).once("data", () => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const answer = await guardedFetch("any")(`http://127.0.0.1:${port}/`);

  await expect(answer.text()).rejects.toThrow("longer than 256 KiB of headers of its chunks");
});

test("lets other work in between two reads of an answer that has come already", async () => {
  const server = await serveHttp((response) => response.end(Buffer.alloc(1024 * 1024)));
  const reader = (await guardedFetch("any")(server.url)).body?.getReader();
  await reader?.read();
  let isOtherDone = false;
  setImmediate(() => {
    isOtherDone = true;
  });

  await reader?.read();

  expect(isOtherDone).toBe(true);
  await reader?.cancel();
});

test.each(["gzip", "br"] as const)("what %s unpacks to is counted as it comes, and is cut where it is too much", async (encoding) => {
  const body = encodedBomb(encoding, 100);
  expect(body.byteLength).toBeLessThan(200_000);
  const server = await serveHttp((response) => response.writeHead(200, { "content-encoding": encoding }).end(body));
  const response = await guardedFetch("any")(server.url);
  let bytes = 0;
  const reading = (async () => {
    for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
  })();
  await expect(reading).rejects.toThrow("longer than 64 MiB");
  expect(bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
});
