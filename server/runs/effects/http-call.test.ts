import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { setSettings } from "#server/platform/settings.ts";
import { encodedBomb } from "#server/testing/bombs.ts";
import { newRun } from "#server/testing/new-run.ts";
import { serveProxy, setAbsentProxy } from "#server/testing/proxy-server.ts";

// HTTP nodes against a real server, through the run loop.

beforeEach(() => setSettings({ ALLOW_PRIVATE_NETWORK: "1" }));
afterEach(() => setSettings({ ALLOW_PRIVATE_NETWORK: "0" }));

interface Received {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server of one test; `answer` is told how many requests came before. */
async function serve(answer: (response: ServerResponse, index: number, request: Received) => void) {
  const requests: Received[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const { method = "", url = "", headers } = incoming;
    const request = { method, url, headers, body: Buffer.concat(parts).toString("utf8") };
    requests.push(request);
    answer(response, requests.length - 1, request);
  });
  const { url, stop } = await listen(server);
  onTestFinished(() => stop());
  return { url, requests };
}

const secrets = new Map([
  ["TOKEN", "secret-token-value"],
  ["OTHER", "another-secret"],
]);

/** Runs one HTTP node between a trigger and an Output. */
async function call(data: object, value = "{{h.output}}", input = "tea") {
  const run = newRun({ t: ["triggerNode"], h: ["httpNode", data as never], o: ["outputNode", { value }] }, ["t>h", "h>o"], input, {
    credentials: async () => secrets,
  });
  await run.go();
  const row = run.memory.rows().find(({ node_id, status }) => node_id === "h" && status !== "running");
  return { ...run.memory.ending(), row, kept: JSON.stringify(run.memory.commits) };
}
const failed = (text: string) => ({ status: "failed", error: expect.stringContaining(text) });

test("sends method, address, query, headers and body, and leaves body, status and headers behind", async () => {
  const server = await serve((response) =>
    response.writeHead(201, { "content-type": "application/json", "X-Made-By": "Loom" }).end('{"id": 7, "tags": ["a"]}'),
  );
  const sent = {
    method: "POST",
    url: `${server.url}/things?a=1`,
    query: [{ name: "q", value: "{{trigger.output}} & more" }],
    headers: [{ name: "X-Order", value: " {{trigger.output}} " }],
    body_type: "json",
    body: '{"note": "{{trigger.output}}", "list": [{{execution.id | length}}]}',
  };
  const value = "{{h.output.id}} {{h.output.tags[0]}} {{h.status}} {{h.headers.X-Made-By}} {{h.headers.x-made-by}}";
  expect(await call(sent, value, 'say "tea"\n')).toMatchObject({ status: "completed", output: "7 a 201 Loom Loom" });
  expect(server.requests).toMatchObject([
    {
      method: "POST",
      url: "/things?a=1&q=say%20%22tea%22%0A%20%26%20more",
      headers: { "x-order": 'say "tea"', "content-type": "application/json", "idempotency-key": "run:h:", "content-length": "38" },
      body: '{"note": "say \\"tea\\"\\n", "list": [3]}',
    },
  ]);
});

test.each([
  [{ body_type: "form", body: [{ name: "a b", value: "{{trigger.output}}" }] }, "application/x-www-form-urlencoded", "a+b=t%26a"],
  [{ body_type: "text", body: "so {{trigger.output}}" }, "text/plain; charset=utf-8", "so t&a"],
  [{ body_type: "text" }, "text/plain; charset=utf-8", "t&a"],
  [{ body_type: "json" }, "application/json", '"t&a"'],
  [{ body_type: "json", headers: [{ name: "content-type", value: "application/ld+json" }] }, "application/ld+json", '"t&a"'],
  [{ body_type: "none", body: "left out" }, undefined, ""],
])("a body %j is sent as %s", async (data, type, body) => {
  const server = await serve((response) => response.end());
  expect(await call({ method: "PUT", url: server.url, ...data }, "{{h.output}}", "t&a")).toMatchObject({ status: "completed", output: "" });
  expect(server.requests[0]).toMatchObject({ method: "PUT", body });
  expect(server.requests[0]?.headers["content-type"]).toBe(type);
});

test.each([
  ["bearer", { kind: "bearer", credential: "TOKEN" }, "authorization", "Bearer secret-token-value"],
  ["basic", { kind: "basic", credential: "TOKEN", username: "ada" }, "authorization", `Basic ${btoa("ada:secret-token-value")}`],
  ["header", { kind: "header", credential: "TOKEN", header: "X-Key" }, "x-key", "secret-token-value"],
])("proves who asks by %s, and what is kept has the secret masked, in an answer too", async (_, auth, name, value) => {
  const server = await serve((response, __, { headers }) =>
    response.writeHead(200, { "x-echo": String(headers[name]) }).end(`you sent ${headers[name]}`),
  );
  const { kept, output } = await call({ url: server.url, auth }, "{{h.output}} {{h.headers.x-echo}}");
  expect(server.requests[0]?.headers[name]).toBe(value);
  expect(output).toMatch(/^you sent .*••••.* .*••••/);
  expect(kept).not.toContain("secret-token-value");
  expect(kept).not.toContain(btoa("ada:secret-token-value"));
});

test("the user name of Basic authentication is an expression", async () => {
  const server = await serve((response, _, { headers }) => response.end(`you sent ${headers.authorization}`));
  const auth = { kind: "basic", credential: "TOKEN", username: "{{trigger.output}}-{{credentials.OTHER}}" };

  const { kept, output } = await call({ url: server.url, auth }, "{{h.output}}", "ada");

  const sent = btoa("ada-another-secret:secret-token-value");
  expect(server.requests[0]?.headers.authorization).toBe(`Basic ${sent}`);
  expect(output).toContain("••••");
  expect(kept).not.toContain(sent);
});

test("a user name of Basic authentication with a colon fails the node", async () => {
  const server = await serve((response) => response.end());
  const auth = { kind: "basic", credential: "TOKEN", username: "{{trigger.output}}" };

  expect(await call({ url: server.url, auth }, "", "ada:b")).toMatchObject(failed("holds a colon"));
  expect(server.requests).toEqual([]);
});

test("a status that is not accepted fails with the beginning of what was said, masked before it is cut; any can be accepted", async () => {
  const words = `${"x".repeat(1990)}secret-token-value and ${"y".repeat(3000)}`;
  const server = await serve((response) => response.writeHead(422).end(words));
  const data = { url: server.url, auth: { kind: "bearer", credential: "TOKEN" } };
  const { status, error, kept } = await call(data);
  expect(status).toBe("failed");
  expect(error).toMatch(/^h: The server answered 422: x{1990}••••/);
  expect(error?.length).toBeLessThan(2100);
  expect(kept).not.toContain("secret-tok");
  expect(await call({ ...data, accept: "any" }, "{{h.status}}")).toMatchObject({ status: "completed", output: "422" });
  expect(await call({ ...data, on_error: "continue" }, "{{h.status}} {{h.output | slice(0, 24)}}")).toMatchObject({
    status: "completed",
    output: "422 The server answered 422:",
  });
});

test.each([
  ["GET", undefined, 3],
  ["DELETE", undefined, 3],
  ["POST", undefined, 1],
  ["PATCH", undefined, 1],
  ["POST", 1, 2],
  ["GET", 0, 1],
])("a %s with retries %s is tried %i times, each with the same key; the last answer counts", async (method, retries, tries) => {
  const server = await serve((response, index) => response.writeHead([503, 429, 500][index] ?? 200, { "retry-after": "0" }).end("busy"));
  expect(await call({ method, url: server.url, retries, headers: [] })).toMatchObject(
    failed(`The server answered ${[0, 503, 429, 500][tries]}`),
  );
  expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(Array.from({ length: tries }, () => "run:h:"));
});

test("each try of a call that is repeated is kept", async () => {
  const server = await serve((response, index) => (index === 0 ? response.writeHead(503).end() : response.end("at last")));

  const { row } = await call({ url: server.url });

  expect(row?.details?.attempts).toEqual([
    { started_at: expect.stringMatching(/^2.*Z$/), duration_ms: expect.any(Number), error: "The server answered 503." },
    { started_at: expect.stringMatching(/^2.*Z$/), duration_ms: expect.any(Number), error: null },
  ]);
});

test("a call that is answered at once keeps no tries", async () => {
  const server = await serve((response) => response.end("at once"));

  expect((await call({ url: server.url })).row?.details).not.toHaveProperty("attempts");
});

test("a connection that breaks is tried again; what comes then counts; a key of one's own is kept", async () => {
  const server = await serve((response, index) => (index < 2 ? response.destroy() : response.end("at last")));
  const headers = [{ name: "idempotency-key", value: "mine" }];
  expect(await call({ url: server.url, headers })).toMatchObject({ status: "completed", output: "at last" });
  expect(server.requests.map((request) => request.headers["idempotency-key"])).toEqual(["mine", "mine", "mine"]);
});

test("who asks to be left alone for long has answered", async () => {
  const server = await serve((response) => response.writeHead(429, { "retry-after": "3600" }).end());
  expect(await call({ url: server.url })).toMatchObject(failed("The server answered 429 without a body."));
  expect(server.requests).toHaveLength(1);
});

test("an answer that takes too long is not tried again, whether it never begins or never ends", async () => {
  const silent = await serve(() => undefined);
  expect(await call({ url: silent.url, timeout: 1 })).toMatchObject(failed("did not answer within 1 second."));
  expect(silent.requests).toHaveLength(1);
  const endless = await serve((response) => {
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  });
  expect(await call({ url: endless.url, timeout: 1 })).toMatchObject(failed("did not answer within 1 second."));
});

test.each([
  ["gzip", encodedBomb("gzip", 64)],
  ["br", encodedBomb("br", 64)],
])("an answer that %s unpacks to more than 4 MiB fails the node", async (encoding, body) => {
  const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end(body));
  expect(await call({ url: server.url })).toMatchObject(failed("The answer is longer than 4 MiB."));
  expect(server.requests).toHaveLength(1);
});

test("what is packed is unpacked, and what cannot be is said", async () => {
  const good = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("unpacked")));
  expect(await call({ url: good.url })).toMatchObject({ output: "unpacked" });
  const bad = await serve((response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"));
  expect(await call({ url: bad.url })).toMatchObject(failed("cannot be unpacked"));
});

test.each([
  ["gzip", gzipSync("größer")],
  ["GZIP", gzipSync("größer")],
  ["x-gzip", gzipSync("größer")],
  ["deflate", deflateSync("größer")],
  ["deflate", deflateRawSync("größer")],
  ["br", brotliCompressSync("größer")],
  ["zstd", zstdCompressSync("größer")],
  ["gzip, br", brotliCompressSync(gzipSync("größer"))],
  ["identity, deflate", deflateRawSync("größer")],
  ["identity", Buffer.from("größer")],
])("unpacks an answer with the content encoding %s", async (encoding, body) => {
  const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end(body));

  expect(await call({ url: server.url })).toMatchObject({ status: "completed", output: "größer" });
});

test.each(["gzip", "deflate", "br", "zstd", "gzip, br", "unknown"])("an empty answer encoded as %s stays empty", async (encoding) => {
  const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end());

  expect(await call({ url: server.url })).toMatchObject({ status: "completed", output: "" });
});

test.each(["gzip", "deflate", "br", "zstd"])("the answer to a HEAD declared as %s is empty", async (encoding) => {
  const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding, "content-length": "20" }).end());

  expect(await call({ method: "HEAD", url: server.url })).toMatchObject({ status: "completed", output: "" });
});

test.each(["compress", "sdch", "gzip, compress", "constructor"])(
  "an answer encoded as %s fails with the encoding's name",
  async (encoding) => {
    const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end("bytes"));

    expect(await call({ url: server.url })).toMatchObject(failed(`encoded as ${encoding.split(", ").at(-1)}`));
    expect(server.requests).toHaveLength(1);
  },
);

test("an answer with a long chain of encodings fails", async () => {
  const encoding = Array.from({ length: 5 }, () => "gzip").join(", ");
  const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end("bytes"));

  expect(await call({ url: server.url })).toMatchObject(failed("cannot be unpacked"));
});

test.each(["deflate", "br", "zstd", "gzip, br"])("broken bytes declared as %s fail without another try", async (encoding) => {
  const server = await serve((response) => response.writeHead(200, { "content-encoding": encoding }).end("no packed bytes"));

  expect(await call({ url: server.url })).toMatchObject(failed("cannot be unpacked"));
  expect(server.requests).toHaveLength(1);
});

test("an answer packed twice that unpacks to too much fails", async () => {
  const server = await serve((response) =>
    response.writeHead(200, { "content-encoding": "gzip, br" }).end(brotliCompressSync(encodedBomb("gzip", 80))),
  );

  expect(await call({ url: server.url })).toMatchObject(failed("The answer is longer than"));
});

test("several Set-Cookie headers are a list", async () => {
  const server = await serve((response) => response.writeHead(200, { "set-cookie": ["a=1; Expires=Wed, 1 Jan 2031", "b=2"] }).end());

  const { output } = await call({ url: server.url }, "{{h.headers.Set-Cookie}} {{h.headers.set-cookie[1]}}");

  expect(output).toBe('["a=1; Expires=Wed, 1 Jan 2031","b=2"] b=2');
});

test("one Set-Cookie header is a text", async () => {
  const server = await serve((response) => response.writeHead(200, { "set-cookie": "a=1" }).end());

  expect((await call({ url: server.url }, "{{h.headers.set-cookie}}")).output).toBe("a=1");
});

test.each([
  ["UTF-8", Buffer.from("Größe ☃", "utf8"), "Größe ☃"],
  ["Latin-1", Buffer.from("Größe", "latin1"), "Größe"],
])("the value of a header in %s is read", async (_, bytes, text) => {
  const server = await serve((response) => response.writeHead(200, { "x-name": bytes.toString("latin1") }).end());

  expect((await call({ url: server.url }, "{{h.headers.x-name}}")).output).toBe(text);
});

test.each([
  ["UTF-8", "utf8", "/gr%C3%B6%C3%9Fe?q=%C3%BC"],
  ["Latin-1", "latin1", "/gr%F6%DFe?q=%FC"],
] as const)("a Location in raw %s is followed", async (_, charset, path) => {
  const location = Buffer.from("/größe?q=ü", charset).toString("latin1");
  const server = await serve((response, index) => (index === 0 ? response.writeHead(302, { location }).end() : response.end("there")));

  expect(await call({ url: server.url })).toMatchObject({ status: "completed", output: "there" });
  expect(server.requests[1]?.url).toBe(path);
});

test.each([
  ["$filter=Name%20eq%20'x'&flag&sig=a%2Fb%3D", "$filter=Name%20eq%20'x'&flag&sig=a%2Fb%3D"],
  ["a=b+c&d=%7e&e=[1]", "a=b+c&d=%7e&e=[1]"],
  ["q=größe x#part?y", "q=gr%C3%B6%C3%9Fe%20x"],
])("the typed query %s stays as it is written", async (typed, sent) => {
  const server = await serve((response) => response.end());

  await call({ url: `${server.url}/x?${typed}` });
  await call({ url: `${server.url}/x?${typed}`, query: [{ name: "a b", value: "ü&=+'" }] });

  expect(server.requests.map(({ url }) => url)).toEqual([`/x?${sent}`, `/x?${sent}&a%20b=%C3%BC%26%3D%2B'`]);
});

test("rows of the query alone begin it", async () => {
  const server = await serve((response) => response.end());

  await call({ url: server.url, query: [{ name: "a", value: "1" }] });

  expect(server.requests[0]?.url).toBe("/?a=1");
});

const LATIN = Buffer.from("Größe", "latin1");
test.each([
  ["a byte order mark", "text/plain; charset=iso-8859-1", Buffer.from("\ufeffGröße", "utf16le")],
  ["the header", "text/plain; charset=iso-8859-1", LATIN],
  ["the header before the document", "text/html; charset=utf-8", Buffer.from('<meta charset="latin1">Größe')],
  ["meta", "text/html", Buffer.concat([Buffer.from('<meta charset="iso-8859-1">'), LATIN])],
  ["meta http-equiv", "", Buffer.concat([Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=latin1">'), LATIN])],
  ["the XML declaration", "application/rss+xml", Buffer.concat([Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>'), LATIN])],
  ["UTF-8 when the header names no charset that exists", "text/plain; charset=klingon", Buffer.from("Größe")],
  ["UTF-8 in JSON that quotes a meta element", "application/json", Buffer.from('"<meta charset=latin1> Größe')],
])("the text of an answer is decoded by %s", async (_, type, body) => {
  const server = await serve((response) => response.writeHead(200, type ? { "content-type": type } : {}).end(body));

  expect((await call({ url: server.url })).output).toMatch(/Größe$/);
});

test("the status 999 fails the node without another try", async () => {
  const server = await serve((response) => response.writeHead(999).end("no robots"));

  expect(await call({ url: server.url })).toMatchObject(failed("The server answered 999: no robots"));
  expect(server.requests).toHaveLength(1);
});

test("the status 999 passes when any answer is accepted", async () => {
  const server = await serve((response) => response.writeHead(999).end("no robots"));

  expect(await call({ url: server.url, accept: "any" }, "{{h.status}} {{h.output}}")).toMatchObject({ output: "999 no robots" });
});

test("redirects are followed, and another origin gets no credential", async () => {
  const other = await serve((response) => response.end("there"));
  const server = await serve((response, index) =>
    response.writeHead(307, { location: index === 0 ? "/again" : `${other.url}/there` }).end(),
  );
  const data = {
    method: "POST",
    url: `${server.url}/start`,
    auth: { kind: "bearer", credential: "TOKEN" },
    headers: [
      { name: "X-Mine", value: "{{credentials.OTHER}}" },
      { name: "Cookie", value: "a=b" },
      { name: "X-Plain", value: "stays" },
    ],
    body_type: "text",
    body: "the body",
  };
  expect(await call(data)).toMatchObject({ status: "completed", output: "there" });
  const mine = { authorization: "Bearer secret-token-value", "x-mine": "another-secret", cookie: "a=b", "x-plain": "stays" };
  expect(server.requests).toMatchObject([
    { method: "POST", url: "/start", headers: mine, body: "the body" },
    { method: "POST", url: "/again", headers: mine, body: "the body" },
  ]);
  const [sent] = other.requests;
  expect(sent).toMatchObject({ method: "POST", url: "/there", headers: { "x-plain": "stays" }, body: "the body" });
  for (const name of ["authorization", "x-mine", "cookie"]) expect(sent?.headers).not.toHaveProperty(name);
  expect(await call({ ...data, body: "with {{credentials.OTHER}}" })).toMatchObject(failed("the body holds a credential"));
  expect(await call({ ...data, follow_redirects: false })).toMatchObject(failed("The server answered 307"));
});

test.each([
  [301, "POST", "GET"],
  [302, "POST", "GET"],
  [303, "PUT", "GET"],
  [301, "PUT", "PUT"],
  [308, "POST", "POST"],
])("after %i a %s becomes a %s", async (status, method, then) => {
  const server = await serve((response, index) => (index === 0 ? response.writeHead(status, { location: "/next" }).end() : response.end()));
  await call({ method, url: server.url, body_type: "text", body: "x" });
  expect(server.requests[1]).toMatchObject({ method: then, body: then === "GET" ? "" : "x" });
});

test("a server that redirects for ever, or to nowhere, is left", async () => {
  const round = await serve((response) => response.writeHead(302, { location: "/" }).end());
  expect(await call({ url: round.url })).toMatchObject(failed("redirects more than 10 times"));
  const nowhere = await serve((response) => response.writeHead(302, { location: "http://[" }).end());
  expect(await call({ url: nowhere.url })).toMatchObject(failed("redirects to an address that is none"));
});

test("the own network is out of reach unless the operator opens it, by redirects too", async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "0" });
  for (const url of ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://[::1]/", "http://2130706433/", "http://localhost:1/"])
    expect(await call({ url }), url).toMatchObject(failed("is on a private or reserved network"));
  for (const url of ["file:///etc/passwd", "ftp://example.com/", "no address", "http://user:word@example.com/", ""])
    expect(await call({ url }), url).toMatchObject(failed("This is no address."));
});

test("each address on the way of a redirect is looked at anew, by number and by name", async () => {
  const hidden = await serve((response) => response.end("secret of the network"));
  const port = new URL(hidden.url).port;
  for (const to of [
    `http://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    "http://169.254.169.254/latest/meta-data/",
    "file:///etc/passwd",
  ]) {
    setSettings({ ALLOW_PRIVATE_NETWORK: "1" });
    const server = await serve((response) => {
      // As it is where the first one is on the internet.
      setSettings({ ALLOW_PRIVATE_NETWORK: "0" });
      response.writeHead(302, { location: to, connection: "close" }).end();
    });
    expect(await call({ url: server.url }), to).toMatchObject(failed("is on a private or reserved network"));
  }
  expect(hidden.requests).toEqual([]);
});

test("an answer without end is cut where it is too long, and its headers where they are too many", async () => {
  const endless = await serve((response) => {
    const piece = "x".repeat(256 * 1024);
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  });
  expect(await call({ url: endless.url })).toMatchObject(failed("The answer is longer than 4 MiB."));
  const headers = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, "y".repeat(1000)]));
  const wordy = await serve((response) => response.writeHead(200, headers).end("ok"));
  expect(await call({ url: wordy.url, retries: 0 })).toMatchObject({ status: "failed" });
});

test("what names an address in an error names no password in it, nor in the log", async () => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "0" });
  const inAddress = await call({ url: "{{trigger.output}}" }, "", "https://ada:pass-word-1@example.com/x");
  expect(inAddress).toMatchObject(failed("This is no address."));
  const inQuery = await call({ url: "http://127.0.0.1:1/?key={{credentials.TOKEN}}" });
  expect(inQuery).toMatchObject({ status: "failed" });
  expect(inAddress.row?.input).toBe("GET https://••••@example.com/x");
  expect(`${inAddress.error} ${inAddress.row?.input} ${inQuery.error} ${inQuery.kept}`).not.toMatch(/pass-word-1|secret-token-value/);
});

test("nothing that an expression brings ends a header or begins another", async () => {
  const server = await serve((response) => response.end("ok"));
  const header = (name: string, value: string) => ({ url: server.url, headers: [{ name, value }] });
  expect(await call(header("X-A", "{{trigger.output}}"), "", "a\r\nX-B: b")).toMatchObject(
    failed("The value of the header X-A has a line break"),
  );
  expect(await call(header("X-A", "{{trigger.output}}"), "", "snow ☃")).toMatchObject(failed("a sign that headers cannot hold"));
  for (const name of ["X A", "X-A:", "X-A\r\nX-B", "Host", "content-length", "Transfer-Encoding", "Proxy-Authorization"])
    expect(await call(header(name, "x")), name).toMatchObject({ status: "failed" });
  expect(await call({ url: server.url, auth: { kind: "header", credential: "TOKEN", header: "X\n" } })).toMatchObject({ status: "failed" });
  expect(server.requests).toEqual([]);
});

test("a credential that there is not, and a body that is no JSON, fail before anything is sent", async () => {
  const server = await serve((response) => response.end("ok"));
  expect(await call({ url: server.url, auth: { kind: "bearer", credential: "GONE" } })).toMatchObject(
    failed('The project has no credential "GONE".'),
  );
  const body = { method: "POST", url: server.url, body_type: "json", body: "{{{trigger.output}}}" };
  expect(await call(body)).toMatchObject(failed("The body is not JSON. It begins: {tea}"));
  expect(server.requests).toEqual([]);
});

test("a call that a crash interrupted is made once more with the same key, and not a third time", async () => {
  const server = await serve((response) => response.end("done"));
  const nodes = { t: ["triggerNode"], h: ["httpNode", { method: "POST", url: server.url }], o: ["outputNode"] } as never;
  for (const deaths of [1, 2]) {
    server.requests.length = 0;
    const run = newRun(nodes, ["t>h", "h>o"]);
    const commit = run.memory.store.commit;
    let died = 0;
    run.memory.store.commit = async (state, written, signal) => {
      // What the call brought is lost with the process.
      if (died < deaths && written.rows.some(({ node_id, status }) => node_id === "h" && status === "complete")) {
        died++;
        throw new Error("killed");
      }
      await commit(state, written, signal);
    };
    for (let go = 0; go <= deaths; go++) await run.go().catch(() => undefined);
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["run:h:", "run:h:"].slice(0, 2));
    expect(run.memory.ending()?.status).toBe(deaths === 1 ? "completed" : "failed");
  }
});

test("each item of a loop has a key of its own", async () => {
  const server = await serve((response, _, { url }) => response.end(url));
  const nodes = {
    t: ["triggerNode"],
    l: ["loopNode", { items_expression: '["a", "b"]' }],
    h: ["httpNode", { url: `${server.url}/{{l.current_item}}` }],
    o: ["outputNode"],
  } as never;
  const run = newRun(nodes, ["t>l", "l.body>h", "l.done>o"]);
  await run.go();
  expect(run.memory.ending()?.output).toBe('["/a","/b"]');
  expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["run:h:0", "run:h:1"]);
});

test("a run that is cancelled breaks its call off", async () => {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const server = await serve((response) => {
    response.on("close", closed.resolve);
    arrived.resolve();
  });
  const run = newRun({ t: ["triggerNode"], h: ["httpNode", { url: server.url, timeout: 300 }], o: ["outputNode"] }, ["t>h", "h>o"]);
  let isCancelled = false;
  run.memory.store.renew = async () => !isCancelled;
  let tell = () => {};
  run.memory.store.onControl = async (_, callback) => {
    tell = callback;
    return () => undefined;
  };
  const going = run.go();
  await arrived.promise;
  isCancelled = true;
  tell();
  expect(await going).toEqual({ kind: "yielded" });
  await closed.promise;
  expect(server.requests).toHaveLength(1);
});

test("tries a call again while the proxy cannot be reached", async () => {
  setAbsentProxy();

  const { status, error, row } = await call({ url: "http://target.example/", retries: 1 });

  expect({ status, error }).toEqual(failed("The proxy at http://127.0.0.1:1 does not accept connections. Check OUTGOING_PROXY"));
  expect(row?.details).toMatchObject({ attempts: [{}, {}] });
});

test("makes one try when the proxy refuses its credentials", async () => {
  const proxy = await serveProxy({ credentials: "ada:right" });
  setSettings({ OUTGOING_PROXY: `http://ada:hunter2@127.0.0.1:${proxy.port}` });
  onTestFinished(() => setSettings({ OUTGOING_PROXY: "" }));

  const { status, error, kept } = await call({ url: "http://target.example/", retries: 3 });

  expect({ status, error }).toEqual(failed("refused its credentials (407). Check OUTGOING_PROXY."));
  expect(proxy.requests).toHaveLength(1);
  expect(kept).not.toContain("hunter2");
});

test("checks the address of a name of NO_PROXY that a proxied host redirects to", async () => {
  const inside = await serve((response) => response.end("secret"));
  const { port } = new URL(inside.url);
  const outside = await serve((response) => response.writeHead(302, { location: `http://localhost:${port}/` }).end());
  const proxy = await serveProxy();
  setSettings({ ALLOW_PRIVATE_NETWORK: "0", OUTGOING_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "localhost" });
  onTestFinished(() => setSettings({ OUTGOING_PROXY: "", NO_PROXY: "" }));

  const ending = await call({ url: `http://target.example:${new URL(outside.url).port}/`, follow_redirects: true });

  expect(ending).toMatchObject(failed("private or reserved network"));
  expect([proxy.requests.length, outside.requests.length, inside.requests.length]).toEqual([1, 1, 0]);
});
