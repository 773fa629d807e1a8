import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { createFront, type FrontOptions } from "#server/http/front/front.ts";

const doors = { RATE_LIMIT_WEB: 0, MAX_BODY_BYTES: 4 * 1024 * 1024, INNGEST_DEV: false };
const off = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 50, RATE_LIMIT_BURST: 0, TREADLE_FRONT_TOKEN: "front-token", ...doors };

async function start(handle: FrontOptions["handle"], settings: Partial<FrontOptions["settings"]> = {}): Promise<number> {
  const front = createFront({ handle, settings: { ...off, ...settings } });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return port;
}

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Sends the path as it is given. */
const ask = (port: number, path: string, method = "GET", headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", path, method, headers, agent: false }, async (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }),
    );
    sent.once("error", reject).end();
  });

/** What comes back for bytes on the socket, until the other side closes. */
async function raw(port: number, ...parts: string[]): Promise<Answer> {
  const socket = connect(port, "127.0.0.1");
  for (const part of parts) socket.write(part);
  const [head = "", ...rest] = (await text(socket)).split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => [line.split(": ")[0]?.toLowerCase(), line.split(": ")[1]]));
  return { status: Number(first.split(" ")[1]), headers, body: rest.join("\r\n\r\n") };
}

function expectEnvelope({ status, headers, body }: Answer, wanted: number, error_code: string): void {
  expect([status, headers["content-type"]]).toEqual([wanted, "application/json"]);
  expect(JSON.parse(body)).toEqual({ detail: expect.stringMatching(/^[A-Z].{10,}\.$/), error_code, status: wanted });
  expect(headers).toMatchObject({ "x-ratelimit-limit": "50", "x-content-type-options": "nosniff", "cache-control": "no-store" });
  expect(headers["content-length"]).toBe(String(Buffer.byteLength(body)));
}

test.each([
  [404, "NOT_FOUND", 404],
  [405, "METHOD_NOT_ALLOWED", 405],
  [400, "BAD_REQUEST", 400],
  [414, "BAD_REQUEST", 400],
  [500, "INTERNAL_ERROR", 500],
  [503, "SERVICE_UNAVAILABLE", 503],
  [507, "STORAGE_FULL", 507],
  [599, "INTERNAL_ERROR", 500],
])("a page or nothing as an answer %i leaves as the envelope, however it is written", async (status, code, told) => {
  const page = "<html>at /home/app/server/secret.ts</html>";
  const ways: FrontOptions["handle"][] = [
    (_, response) => void response.writeHead(status, { "content-type": "text/html", allow: "GET" }).end(page),
    (_, response) => void Object.assign(response, { statusCode: status }).setHeader("content-type", "text/html").end(page),
    (_, response) => void Object.assign(response, { statusCode: status }).setHeader("content-encoding", "gzip").end(),
    (_, response) => {
      response.writeHead(status);
      response.write(page);
      response.write(page);
      response.end();
    },
  ];
  for (const way of ways) expectEnvelope(await ask(await start(way), "/api/v1/agents"), told, code);
});

test("our own errors, successes and pages outside the API leave as they are", async () => {
  const json = '{"detail":"No.","error_code":"CONFLICT","status":409}';
  const port = await start((request, response) => {
    if (request.url === "/api/v1/own") response.writeHead(409, { "content-type": "application/json", "x-own": "1" }).end(json);
    else if (request.url === "/api/v1/text") response.writeHead(200, { "content-type": "text/plain" }).end("fine");
    else response.writeHead(404, { "content-type": "text/html" }).end("<html>");
  });
  expect(await ask(port, "/api/v1/own")).toMatchObject({ status: 409, body: json, headers: { "x-own": "1" } });
  expect(await ask(port, "/api/v1/text")).toMatchObject({ status: 200, body: "fine" });
  expect(await ask(port, "/nowhere")).toMatchObject({ status: 404, body: "<html>" });
});

test.each(["/api/v1/agents/%zz", "/api/v1/agents/%", "/api/v1/agents/%c0%ae", "/webhooks/%zz"])(
  "the path %s cannot be read, and is told so before the app does any work",
  async (path) => {
    const handle = vi.fn();
    expectEnvelope(await ask(await start(handle), path), 400, "BAD_REQUEST");
    expect(handle).not.toHaveBeenCalled();
  },
);

test.each(["TRACE", "PROPFIND", "REPORT"])("the method %s is used nowhere", async (method) => {
  const answer = await ask(await start(vi.fn()), "/api/v1/agents", method);
  expectEnvelope(answer, 405, "METHOD_NOT_ALLOWED");
  expect(answer.headers.allow).toBe("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
});

test("headers and paths beyond the limit, and what is no HTTP, are answered in the envelope", async () => {
  const port = await start(vi.fn());
  const long = "x".repeat(20_000);
  for (const request of [
    `GET /api/v1/agents HTTP/1.1\r\nhost: x\r\nx-long: ${long}\r\n\r\n`,
    `GET /api/v1/agents?q=${long} HTTP/1.1\r\nhost: x\r\n\r\n`,
    "nonsense\r\n\r\n",
    "GET /api/v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n",
    "GET /api/v1/agents HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n",
    "GET /api/v1/a b HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET /api/v1/agents HTTP/1.1\r\nhost: x\r\nna me: x\r\n\r\n",
  ]) {
    const answer = await raw(port, request);
    expectEnvelope(answer, 400, "BAD_REQUEST");
    expect(answer.headers.connection).toBe("close");
  }
});

test("a body whose chunks make no sense is answered once, and one that began to be answered is only cut off", async () => {
  const head = "POST /api/v1/agents HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
  expectEnvelope(await raw(await start(() => undefined), head, "zz\r\n"), 400, "BAD_REQUEST");
  const begun = await start((_, response) => void response.writeHead(200, { "content-type": "text/plain" }).write("begun"));
  const { status, body } = await raw(begun, head, "zz\r\n");
  expect([status === 200 || status === 400, body.includes("begun") && body.includes("BAD_REQUEST")]).toEqual([true, false]);
});

test("requests that cannot be read are counted too", async () => {
  const port = await start(vi.fn());
  const left = async () => Number((await raw(port, "nonsense\r\n\r\n")).headers["x-ratelimit-remaining"]);
  const first = await left();
  expect(await left()).toBe(first - 1);
});

const forged = (address: string) => ({
  "x-forwarded-for": address,
  forwarded: `for=${address}`,
  "x-real-ip": address,
  "client-ip": address,
});

test("no header makes a client another one, unless our proxy wrote it; of IPv6 the /64 counts", async () => {
  const left = async (port: number, headers: Record<string, string>) => {
    const answer = await ask(port, "/api/v1/agents", "GET", headers);
    return Number(answer.headers["x-ratelimit-remaining"]);
  };
  const direct = await start((_, response) => void response.end("{}"));
  expect([await left(direct, forged("203.0.113.1")), await left(direct, forged("203.0.113.2")), await left(direct, {})]).toEqual([
    49, 48, 47,
  ]);
  const proxied = await start((_, response) => void response.end("{}"), { TRUST_PROXY: true });
  const from = (address: string) => left(proxied, { ...forged("9.9.9.9"), "x-forwarded-for": `1.2.3.4, ${address}` });
  expect([await from("203.0.113.1"), await from("203.0.113.2"), await from("203.0.113.1:4711")]).toEqual([49, 49, 48]);
  expect([await from("2001:db8:0:1::1"), await from("[2001:DB8:0:1:ffff::2]:443"), await from("2001:db8:0:2::1")]).toEqual([49, 48, 49]);
  // What is no address is nobody's: the hop itself counts.
  expect([await from("unknown"), await from("anything")]).toEqual([49, 48]);
});

test("a 413 to a body without a length says that the connection ends with it, since the rest is not read", async () => {
  const port = await start((_, response) => {
    response.writeHead(413, { "content-type": "application/json" }).end("{}");
  });
  const { status, headers } = await raw(port, "POST /api/v1/workflows HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n");
  expect([status, headers.connection]).toEqual([413, "close"]);
});

test("whoever goes on sending after a 413 can still read it; what follows that request is not done", async () => {
  const seen: (string | undefined)[] = [];
  const port = await start((request, response) => {
    seen.push(request.url);
    response.writeHead(413, { "content-type": "application/json" }).end("{}");
  });
  const socket = connect(port, "127.0.0.1");
  const chunk = `100000\r\n${" ".repeat(0x100000)}\r\n`;
  const head = "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const next = `POST /api/v1/projects HTTP/1.1\r\n${head}0\r\n\r\n`;
  // All of it is written before anything is read.
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.write(`POST /api/v1/workflows HTTP/1.1\r\n${head}`);
    for (let sent = 0; sent < 20; sent++) socket.write(chunk);
    socket.write(`0\r\n\r\n${next}`, () => resolve());
  });
  expect(await text(socket)).toMatch(/^HTTP\/1.1 413 /);
  expect(seen).toEqual(["/api/v1/workflows"]);
});

test("an address of a page whose escapes make no sense is refused as such", async () => {
  const port = await start((_, response) => void response.end("a page"));
  expect(await ask(port, "/review/%E0%A4%A")).toMatchObject({ status: 400, body: expect.stringContaining("cannot be read") });
  expect(await ask(port, "/review/%25")).toMatchObject({ status: 200, body: "a page" });
});
