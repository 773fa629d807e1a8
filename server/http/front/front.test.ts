import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFront, type Front, type FrontOptions } from "#server/http/front/front.ts";
import { log } from "#server/platform/log.ts";

const doors = { RATE_LIMIT_WEB: 0, MAX_BODY_BYTES: 4 * 1024 * 1024, INNGEST_DEV: false };
const off = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 0, RATE_LIMIT_BURST: 0, TREADLE_FRONT_TOKEN: "front-token", ...doors };

/** What the app behind the front saw. */
const echo = (request: IncomingMessage, response: ServerResponse) => {
  response.setHeader("content-type", "application/json").end(JSON.stringify({ url: request.url, headers: request.headers }));
};

async function start(
  settings: Partial<FrontOptions["settings"]> = {},
  handle: FrontOptions["handle"] = echo,
): Promise<{ front: Front; port: number }> {
  const front = createFront({ handle, settings: { ...off, ...settings } });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return { front, port };
}

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  data: { url: string; headers: Record<string, string>; error_code?: string; status?: number; detail?: string };
}

/** Unlike fetch it sends the path and the headers exactly as given. */
function ask(port: number, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", path, headers, method, agent: false }, async (response) => {
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, data: text ? JSON.parse(text) : {} });
    });
    sent.once("error", reject).end();
  });
}

const forged = {
  "x-forwarded-for": "203.0.113.9, 198.51.100.7",
  "x-forwarded-host": "evil.example",
  "x-forwarded-proto": "https",
  "x-forwarded-port": "1",
  "x-real-ip": "203.0.113.9",
  forwarded: "for=203.0.113.9",
  "x-treadle-front": "front-token",
};

test("what a client says about itself is dropped, and the truth is told", async () => {
  const { port } = await start();
  const { data } = await ask(port, "/", { ...forged, host: "treadle.test:4000" });
  expect(data.headers).toMatchObject({
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": "treadle.test:4000",
    "x-forwarded-proto": "http",
    "x-treadle-front": "front-token",
  });
  for (const name of ["x-real-ip", "forwarded", "x-forwarded-port"]) expect(data.headers).not.toHaveProperty(name);
});

test("no answer may be framed by another site or guessed at", async () => {
  const { port } = await start();
  expect((await ask(port, "/")).headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "referrer-policy": "same-origin",
  });
});

test("without a token of our own a sent one is dropped", async () => {
  const front = createFront({
    handle: echo,
    settings: { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 0, RATE_LIMIT_BURST: 0, ...doors } as FrontOptions["settings"],
  });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  expect((await ask(port, "/", forged)).data.headers).not.toHaveProperty("x-treadle-front");
});

test("behind a proxy its own hop counts, not what the client put before it", async () => {
  const { port } = await start({ TRUST_PROXY: true });
  const { data } = await ask(port, "/", forged);
  expect(data.headers).toMatchObject({
    "x-forwarded-for": "198.51.100.7",
    "x-forwarded-host": "evil.example",
    "x-forwarded-proto": "https",
  });
});

test("APP_URL says how people come here, whatever the request says", async () => {
  const { port } = await start({ APP_URL: "https://flows.example.com" });
  const { data } = await ask(port, "/", { host: "10.0.0.5:3000" });
  expect(data.headers).toMatchObject({ "x-forwarded-host": "flows.example.com", "x-forwarded-proto": "https", host: "10.0.0.5:3000" });
});

test.each([
  ["https://flows.example.com", "max-age=31536000"],
  ["http://flows.example.com", undefined],
  [undefined, undefined],
])("with APP_URL %s, HSTS is %s", async (APP_URL, header) => {
  const { port } = await start(APP_URL ? { APP_URL } : {});
  expect((await ask(port, "/")).headers["strict-transport-security"]).toBe(header);
});

test("with LOG_REQUESTS each request is logged without its query", async () => {
  const info = vi.spyOn(log, "info");
  const { port } = await start({ LOG_REQUESTS: true });
  await ask(port, "/api/v1/agents?token=hunter2");
  await expect.poll(() => info.mock.calls).toHaveLength(1);
  expect(info.mock.calls[0]).toEqual([
    { method: "GET", path: "/api/v1/agents", status: 200, duration_ms: expect.any(Number), client: "127.0.0.1", is_aborted: false },
    "request",
  ]);
  info.mockRestore();
});

test("without HOST it listens over IPv4 and IPv6", async () => {
  const front = createFront({ handle: echo, settings: off });
  const port = await front.listen(0);
  onTestFinished(() => front.drain(0));
  for (const host of ["127.0.0.1", "[::1]"]) expect((await fetch(`http://${host}:${port}/`)).status).toBe(200);
});

test("an Inngest server inside the network is told to call where it found us, not where people come", async () => {
  const { port } = await start({ APP_URL: "https://flows.example.com" });
  const proto = async (host: string) => (await ask(port, "/api/inngest", { host })).data.headers["x-forwarded-proto"];
  expect(await proto("app-1:3000")).toBe("http");
  expect(await proto("flows.example.com")).toBe("https");
});

test("the webhook path without the version is the versioned one", async () => {
  const { port } = await start();
  const url = async (path: string) => (await ask(port, path, {}, "POST")).data.url;
  expect(await url("/webhooks/019a?x=1")).toBe("/api/v1/webhooks/019a?x=1");
  expect(await url("/webhooks/setup/019a")).toBe("/webhooks/setup/019a");
  expect(await url("/webhooks")).toBe("/webhooks");
});

test("each answer under /api/v1 tells the tightest window", async () => {
  const { port } = await start({ RATE_LIMIT_PER_MINUTE: 10, RATE_LIMIT_BURST: 4 });
  const seen = async (path: string) => {
    const { status, headers } = await ask(port, path);
    return [status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
  };
  expect(await seen("/api/v1/agents")).toEqual([200, "4", "3"]);
  expect(await seen("/webhooks/1")).toEqual([200, "4", "2"]);
  expect(await seen("/workflows")).toEqual([200, undefined, undefined]);
  expect(await seen("/api/v10/agents")).toEqual([200, undefined, undefined]);
  expect(await seen("/api/v1/bridge/threads")).toEqual([200, "4", "2"]);
});

test("a used-up window is refused in the envelope, before the app does any work", async () => {
  const handle = vi.fn(echo);
  const { port } = await start({ RATE_LIMIT_PER_MINUTE: 100, RATE_LIMIT_BURST: 2 }, handle);
  await ask(port, "/api/v1/agents");
  await ask(port, "/api/v1/agents");
  const before = Date.now();
  const { status, headers, data } = await ask(port, "/api/v1/agents", {}, "POST");
  expect(status).toBe(429);
  expect(data).toMatchObject({ error_code: "RATE_LIMIT_EXCEEDED", status: 429, detail: expect.stringContaining("Wait") });
  expect(headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "0", "content-type": "application/json" });
  const wait = Number(headers["retry-after"]);
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(5);
  const reset = Number(headers["x-ratelimit-reset"]) * 1000;
  expect(reset).toBeGreaterThan(before);
  expect(reset).toBeLessThanOrEqual(before + 6500);
  expect(handle).toHaveBeenCalledTimes(2);
});

test("a request that the burst refused does not spend the minute", async () => {
  const { port } = await start({ RATE_LIMIT_PER_MINUTE: 3, RATE_LIMIT_BURST: 1 });
  await ask(port, "/api/v1/agents");
  for (let n = 0; n < 5; n++) expect((await ask(port, "/api/v1/agents")).headers["x-ratelimit-limit"]).toBe("1");
  const { status, headers } = await ask(port, "/api/v1/bridge");
  expect([status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual([200, "1", "0"]);
});

test("the minute refuses when the burst is off", async () => {
  const { port } = await start({ RATE_LIMIT_PER_MINUTE: 1 });
  expect((await ask(port, "/api/v1/agents")).status).toBe(200);
  const { status, headers } = await ask(port, "/api/v1/agents");
  expect([status, headers["x-ratelimit-limit"]]).toEqual([429, "1"]);
  expect(Number(headers["retry-after"])).toBeGreaterThan(5);
});

test("with both windows off there are no headers", async () => {
  const { port } = await start();
  expect(Object.keys((await ask(port, "/api/v1/agents")).headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
});

test.each(["//api/v1/agents", "/%61pi/v1/agents", "/x/../api/v1/agents", "/api//v1/agents", "http://own.test/api/v1/agents", "/api/v1"])(
  "the path %s spends the budget like any other spelling",
  async (path) => {
    const { port } = await start({ RATE_LIMIT_PER_MINUTE: 5 });
    expect((await ask(port, path, { host: "own.test" })).headers["x-ratelimit-remaining"]).toBe("4");
  },
);

test("clients of different addresses have budgets of their own, and a forged address is no other client", async () => {
  const proxied = await start({ RATE_LIMIT_PER_MINUTE: 1, TRUST_PROXY: true });
  const from = async (port: number, address: string) => (await ask(port, "/api/v1/agents", { "x-forwarded-for": address })).status;
  expect([
    await from(proxied.port, "198.51.100.1"),
    await from(proxied.port, "198.51.100.2"),
    await from(proxied.port, "198.51.100.1"),
  ]).toEqual([200, 200, 429]);
  const direct = await start({ RATE_LIMIT_PER_MINUTE: 1 });
  expect([await from(direct.port, "198.51.100.1"), await from(direct.port, "198.51.100.2")]).toEqual([200, 429]);
});

test("an app that fails is answered for, without its words", async () => {
  const { port } = await start({}, async () => {
    throw new Error("the database password is hunter2");
  });
  const { status, data } = await ask(port, "/api/v1/agents");
  expect([status, data.error_code]).toEqual([500, "INTERNAL_ERROR"]);
  expect(JSON.stringify(data)).not.toContain("hunter2");
});

/** Opens an event stream and hands over its chunks. */
function openStream(port: number): Promise<AsyncIterator<Buffer>> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", path: "/api/v1/executions/1/stream", agent: false }, (response) =>
      resolve(response[Symbol.asyncIterator]() as AsyncIterator<Buffer>),
    );
    sent.once("error", reject).end();
  });
}

test("a stream passes as it is written, is counted, and ends when the front drains", async () => {
  const written: ServerResponse[] = [];
  const { front, port } = await start({ RATE_LIMIT_PER_MINUTE: 10 }, (_, response) => {
    written.push(response.writeHead(200, { "content-type": "text/event-stream" }));
    response.write("data: 1\n\n");
  });
  const stream = await openStream(port);
  expect(String((await stream.next()).value)).toBe("data: 1\n\n");
  expect(front.openStreams()).toBe(1);
  written[0]?.write("data: 2\n\n");
  expect(String((await stream.next()).value)).toBe("data: 2\n\n");
  const drained = front.drain();
  expect((await stream.next()).done).toBe(true);
  await drained;
  expect(front.openStreams()).toBe(0);
  // Whoever still writes to the ended stream must not bring the process down.
  written[0]?.write("data: 3\n\n");
  await expect(ask(port, "/")).rejects.toThrow();
});

test("draining lets a request under way end", async () => {
  let finish = () => {};
  const begun = Promise.withResolvers<void>();
  const { front, port } = await start({}, (_, response) => {
    finish = () => response.end("{}");
    begun.resolve();
  });
  const answer = ask(port, "/");
  await begun.promise;
  const drained = front.drain();
  finish();
  expect((await answer).status).toBe(200);
  await drained;
});

test("draining waits for no connection that its client keeps for later requests", async () => {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const open: ServerResponse[] = [];
  const begun = Promise.withResolvers<void>();
  const { front, port } = await start({}, ({ url }, response) => {
    if (url === "/stream") response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    if (open.push(response) === 2) begun.resolve();
  });
  const answers = ["/stream", "/slow"].map(
    (path) =>
      new Promise<void>((resolve, reject) => {
        const sent = httpRequest({ port, host: "127.0.0.1", path, agent }, (response) => response.resume().once("end", resolve));
        sent.once("error", reject).end();
      }),
  );
  await begun.promise;
  const drained = front.drain(60_000);
  open[1]?.end("{}");
  await Promise.all(answers);
  await drained;
});

test("draining answers a request on a kept connection, and closes it with the answer", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const { front, port } = await start();
  const askKept = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest({ port, host: "127.0.0.1", agent }, (response) => response.resume().once("end", () => resolve(response)));
      sent.once("error", reject).end();
    });
  const first = await askKept();

  const drained = front.drain();
  const second = await askKept();

  expect(first.headers.connection).toBe("keep-alive");
  expect([second.statusCode, second.headers.connection]).toEqual([200, "close"]);
  await drained;
});

test("draining answers a request that arrived while the process was busy", async () => {
  const { front, port } = await start();
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  socket.write(request);
  await once(socket, "data");

  const drained = front.drain();
  socket.write(request);
  // Blocks the event loop past the time at which idle connections are closed: the request is there, and not read.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  const [answer] = await once(socket, "data");

  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
  await drained;
});

test("a request that does not end is cut off after the grace time", async () => {
  const begun = Promise.withResolvers<void>();
  const { front, port } = await start({}, () => begun.resolve());
  const answer = ask(port, "/").catch(() => "cut off");
  await begun.promise;
  await front.drain(1);
  expect(await answer).toBe("cut off");
});

test("a taken port and an address of another machine are told in a sentence", async () => {
  const { port } = await start();
  const second = createFront({ handle: echo, settings: off });
  await expect(second.listen(port, "127.0.0.1")).rejects.toThrow(
    `Port ${port} is taken by another program. Stop it, or set PORT to another port.`,
  );
  await expect(createFront({ handle: echo, settings: off }).listen(0, "203.0.113.1")).rejects.toThrow(/no address 203\.0\.113\.1/);
});

test("whoever offers another protocol, or expects something, is answered in this one", async () => {
  const { port } = await start();
  const { data } = await ask(port, "/api/v1/agents", {
    connection: "Upgrade, HTTP2-Settings",
    upgrade: "h2c",
    "http2-settings": "AAMAAABk",
  });
  expect(data.url).toBe("/api/v1/agents");
  expect((await ask(port, "/api/v1/agents", { expect: "200-maybe" })).status).toBe(200);
  const options = await ask(port, "*", {}, "OPTIONS");
  expect([options.status, options.headers.allow]).toEqual([204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"]);
});

test.each([
  ["/api/v1/agents/?page=2", "/api/v1/agents?page=2"],
  ["//api/v1//agents", "/api/v1/agents"],
  ["http://own.test/api/v1/agents?q=a%2Fb//c", "/api/v1/agents?q=a%2Fb//c"],
  ["http://own.test/workflows/?q=1", "/workflows/?q=1"],
  ["/api/v1/agents/a%2Fb", "/api/v1/agents/a%2Fb"],
  ["/workflows//x/", "/workflows//x/"],
])("%s reaches the app as %s, without a redirect", async (path, url) => {
  const { port } = await start();
  expect((await ask(port, path, { host: "own.test" })).data.url).toBe(url);
});

test.each(["/", "/api/v1/agents", "/api/health"])("refuses an address of more than 200 query parameters: %s", async (path) => {
  const statusOf = async (count: number) => {
    const { port } = await start({}, (_, response) => void response.end("{}"));
    const answer = await fetch(`http://127.0.0.1:${port}${path}?${"a&".repeat(count - 1)}a`);
    return answer.status;
  };

  expect(await statusOf(200)).toBe(200);
  expect(await statusOf(201)).toBe(400);
});

test("headers of the framework do not reach the API", async () => {
  const { port } = await start();
  const sent = {
    rsc: "1",
    "next-router-state-tree": "x",
    "next-action": "x",
    "x-middleware-subrequest": "x",
    "x-invoke-path": "/x",
    "x-own": "1",
  };
  const { data } = await ask(port, "/api/v1/agents", sent);
  expect(Object.keys(data.headers).filter((name) => name in sent)).toEqual(["x-own"]);
  expect((await ask(port, "/workflows", sent)).data.headers).toMatchObject(sent);
});

/** Writes the lines of a request as they are and reads the first line of the answer. */
async function statusLine(port: number, ...lines: string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  return (await text(socket)).split("\r\n")[0] ?? "";
}

test.each([
  ["two different Host headers", ["Host: own.test", "Host: evil.test"]],
  ["the same Host header twice", ["Host: own.test", "Host: own.test"]],
  ["two hosts in one header", ["Host: own.test, evil.test"]],
  ["user information", ["Host: own.test@evil.test"]],
  ["a path", ["Host: own.test/x"]],
])("refuses %s with 400 before the app sees the request", async (_, headers) => {
  const handle = vi.fn(echo);
  const { port } = await start({}, handle);
  for (const path of ["/api/v1/agents", "/sign-in"])
    expect(await statusLine(port, `GET ${path} HTTP/1.1`, ...headers)).toBe("HTTP/1.1 400 Bad Request");
  expect(handle).not.toHaveBeenCalled();
});

test.each(["http://evil.test/sign-in/", "http://evil.test/api/v1/agents/", "https://own.test@evil.test//x", "http://own.test:81/"])(
  "refuses the absolute address %s of another host with 421",
  async (url) => {
    const handle = vi.fn(echo);
    const open = await start({}, handle);
    const known = await start({ APP_URL: "http://own.test" }, handle);

    expect(await statusLine(open.port, `GET ${url} HTTP/1.1`, "Host: own.test")).toBe("HTTP/1.1 421 Misdirected Request");
    expect(await statusLine(known.port, `GET ${url} HTTP/1.1`, "Host: evil.test")).toBe("HTTP/1.1 421 Misdirected Request");
    expect(handle).not.toHaveBeenCalled();
  },
);

test("answers a request without a Host header over HTTP/1.0", async () => {
  const { port } = await start();
  expect(await statusLine(port, "GET /api/health HTTP/1.0")).toBe("HTTP/1.1 200 OK");
});
