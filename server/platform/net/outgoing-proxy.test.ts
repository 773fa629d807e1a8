import { once } from "node:events";
import { createServer as createTlsServer } from "node:https";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { AddressRefused, assertReachable } from "#server/platform/net/guard.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { shownProxy } from "#server/platform/net/outgoing-proxy.ts";
import { ProxyFailed } from "#server/platform/net/proxy-connection.ts";
import { type GivenSettings, setSettings } from "#server/platform/settings.ts";
import { TEST_SERVER, trustTestAuthority } from "#server/testing/certificates.ts";
import { type ProxyOptions, serveProxy } from "#server/testing/proxy-server.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

const NONE = { OUTGOING_PROXY: "", HTTP_PROXY: "", HTTPS_PROXY: "", ALL_PROXY: "", NO_PROXY: "" };
afterEach(() => setSettings(NONE));

/** Starts a proxy, and sets it with user and password. */
async function useProxy(options: ProxyOptions = {}, others: GivenSettings = {}) {
  const proxy = await serveProxy({ credentials: "ada:p@ss", ...options });
  const scheme = options.isTls ? "https" : "http";
  setSettings({ OUTGOING_PROXY: `${scheme}://ada:p%40ss@127.0.0.1:${proxy.port}`, ...others });
  return proxy;
}

const BASIC = `Basic ${Buffer.from("ada:p@ss").toString("base64")}`;

/** An HTTPS server of the name target.example. */
async function serveTls() {
  trustTestAuthority();
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const names: unknown[] = [];
  const server = createTlsServer(TEST_SERVER, (request, response) => {
    headers.push(request.headers);
    response.end("over TLS");
  });
  server.on("secureConnection", (socket) => names.push(socket.servername));
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  return { port, headers, names };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

test("passes the whole URL of an http request to the proxy", async () => {
  const target = await serveHttp((response) => response.writeHead(201).end("made"));
  const { port } = new URL(target.url);
  const proxy = await useProxy();

  const response = await guardedFetch("public")(`http://target.example:${port}/a?b='c'`, { method: "POST", body: '{"d":1}' });

  expect([response.status, await response.text()]).toEqual([201, "made"]);
  expect(proxy.requests).toEqual([{ method: "POST", target: `http://target.example:${port}/a?b='c'`, authorization: BASIC }]);
  expect(target.requests).toMatchObject([{ body: { d: 1 }, headers: { host: `target.example:${port}` } }]);
});

test("keeps credentials of the proxy from an http target", async () => {
  const target = await serveHttp((response) => response.end());
  await useProxy();

  await guardedFetch("any")(target.url, { headers: { "proxy-authorization": "Basic forged" } });

  expect(target.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
});

test("sends no credentials of the caller to a proxy without a password", async () => {
  const target = await serveHttp((response) => response.end());
  const proxy = await serveProxy();
  setSettings({ OUTGOING_PROXY: `http://127.0.0.1:${proxy.port}` });

  await guardedFetch("any")(target.url, { headers: { "proxy-authorization": "Basic forged" } });

  expect(proxy.requests).toMatchObject([{ authorization: undefined }]);
});

test.each([false, true])("tunnels an https request, with TLS to the proxy: %s", async (isTls) => {
  const target = await serveTls();
  const proxy = await useProxy({ isTls });

  const response = await guardedFetch("public")(`https://target.example:${target.port}/`);

  await expect(response.text()).resolves.toBe("over TLS");
  expect(proxy.requests).toEqual([{ method: "CONNECT", target: `target.example:${target.port}`, authorization: BASIC }]);
  expect(target.names).toEqual(["target.example"]);
  expect(target.headers[0]).not.toHaveProperty("proxy-authorization");
});

test("forwards an http request over TLS to the proxy", async () => {
  trustTestAuthority();
  const target = await serveHttp((response) => response.end("plain"));
  await useProxy({ isTls: true });

  await expect(guardedFetch("any")(target.url).then((response) => response.text())).resolves.toBe("plain");
});

test("refuses the certificate of another name inside a tunnel", async () => {
  const target = await serveTls();
  await useProxy();

  const error = await failureOf(guardedFetch("public")(`https://other.example:${target.port}/`));

  expect(error).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
});

test("uses a tunnel for the next request to the same target", async () => {
  const target = await serveTls();
  const proxy = await useProxy();
  const ask = () => guardedFetch("public")(`https://target.example:${target.port}/`).then((response) => response.text());

  await ask();
  await until(async () => {
    const before = proxy.requests.length;
    await ask();
    return proxy.requests.length === before;
  });
});

test("asks again through the proxy when a kept-alive connection has ended", async () => {
  const target = await serveHttp((response, index) => (index === 1 ? response.destroy() : response.end(`answer ${index}`)));
  const proxy = await useProxy();
  const ask = () => guardedFetch("any")(target.url).then((response) => response.text());

  await expect(ask()).resolves.toBe("answer 0");
  await expect(ask()).resolves.toBe("answer 2");

  expect(proxy.requests).toHaveLength(3);
  expect(target.requests.every(({ headers }) => headers["proxy-authorization"] === undefined)).toBe(true);
});

test("ignores the proxies of the environment unless OUTGOING_PROXY is set", async () => {
  const target = await serveHttp((response) => response.end("direct"));
  const proxy = await serveProxy();
  setSettings({ ...NONE, HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });

  await expect(guardedFetch("any")(target.url).then((response) => response.text())).resolves.toBe("direct");

  expect(proxy.requests).toEqual([]);
  expect(shownProxy()).toBeUndefined();
});

test.each(["HTTP_PROXY", "ALL_PROXY"])("uses %s with OUTGOING_PROXY=env", async (name) => {
  const target = await serveHttp((response) => response.end());
  const proxy = await serveProxy();
  setSettings({ ...NONE, OUTGOING_PROXY: "env", [name]: `127.0.0.1:${proxy.port}` });

  await guardedFetch("any")(target.url);

  expect(proxy.requests).toHaveLength(1);
});

test("calls https directly when only HTTP_PROXY is set", async () => {
  const target = await serveTls();
  const proxy = await serveProxy();
  setSettings({ ...NONE, OUTGOING_PROXY: "env", HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });

  await (await guardedFetch("any")(`https://localhost:${target.port}/`)).text();

  expect(proxy.requests).toEqual([]);
});

test("calls a host of NO_PROXY directly", async () => {
  const target = await serveHttp((response) => response.end());
  const proxy = await useProxy({}, { NO_PROXY: "other.example, 127.0.0.0/8" });

  await guardedFetch("any")(target.url);

  expect(proxy.requests).toEqual([]);
});

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://017700000001/",
  "http://10.0.0.1/",
  "https://[::1]/",
  "https://[::ffff:10.0.0.1]/",
  "http://169.254.169.254/latest/meta-data",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://app.localhost/",
  "http://localhost.localdomain/",
  "http://ip6-localhost/",
])("refuses %s without asking the proxy", async (url) => {
  const proxy = await useProxy();

  await expect(guardedFetch("public")(url)).rejects.toBeInstanceOf(AddressRefused);

  expect(proxy.requests).toEqual([]);
});

test("refuses cloud metadata through the proxy within private reach", async () => {
  await useProxy();

  await expect(guardedFetch("private")("http://169.254.169.254/")).rejects.toBeInstanceOf(AddressRefused);
});

test("refuses the address of the proxy as a target", async () => {
  const proxy = await useProxy();

  for (const reach of ["public", "private", "any"] as const)
    await expect(guardedFetch(reach)(`http://127.0.0.1:${proxy.port}/status`)).rejects.toBeInstanceOf(AddressRefused);
  expect(proxy.requests).toEqual([]);
});

test("checks the address of a name of NO_PROXY when it connects", async () => {
  const target = await serveHttp((response) => response.end("secret"));
  const { port } = new URL(target.url);
  const proxy = await useProxy({}, { NO_PROXY: "localhost" });

  await expect(guardedFetch("public")(`http://localhost:${port}/`)).rejects.toBeInstanceOf(AddressRefused);

  expect([proxy.requests, target.requests]).toEqual([[], []]);
});

test("saves a name that the proxy resolves without a lookup", async () => {
  await useProxy({}, { NO_PROXY: "internal.example" });

  await expect(assertReachable(new URL("https://app.localtest.invalid/"), "public")).resolves.toBeUndefined();
  await expect(assertReachable(new URL("http://10.0.0.1/"), "public")).rejects.toBeInstanceOf(AddressRefused);
});

test.each(["http", "https"])("names the proxy when it refuses the password for %s", async (scheme) => {
  const proxy = await serveProxy({ credentials: "ada:other" });
  setSettings({ OUTGOING_PROXY: `http://ada:hunter2@127.0.0.1:${proxy.port}` });

  const error = await failureOf(guardedFetch("public")(`${scheme}://target.example/`));

  expect(error).toBeInstanceOf(ProxyFailed);
  expect(error).toMatchObject({
    message: `The proxy at http://127.0.0.1:${proxy.port} refused its credentials (407). Check OUTGOING_PROXY.`,
    isRetryable: false,
  });
});

test("names the setting of the environment that the proxy is from", async () => {
  const proxy = await serveProxy({ credentials: "ada:other" });
  setSettings({ ...NONE, OUTGOING_PROXY: "env", HTTPS_PROXY: `http://ada:hunter2@127.0.0.1:${proxy.port}` });

  await expect(guardedFetch("public")("https://target.example/")).rejects.toThrow("(407). Check HTTPS_PROXY.");
});

test.each(["http", "https"])("names the proxy when nothing listens there, for %s", async (scheme) => {
  const proxy = await serveProxy();
  await proxy.stop();
  setSettings({ OUTGOING_PROXY: `http://ada:hunter2@127.0.0.1:${proxy.port}` });

  const error = await failureOf(guardedFetch("public")(`${scheme}://target.example/`));

  expect(error).toMatchObject({
    message: `The proxy at http://127.0.0.1:${proxy.port} does not accept connections. Check OUTGOING_PROXY, and that the proxy runs.`,
    code: "ECONNREFUSED",
    isRetryable: true,
  });
});

test("reports an untrusted certificate of the proxy", async () => {
  await useProxy({ isTls: true });

  const error = await failureOf(guardedFetch("public")("https://target.example/"));

  expect(error).toMatchObject({ message: expect.stringContaining("has no certificate that can be trusted"), isRetryable: false });
});

test.each([
  [403, "does not connect to target.example:443 (403)", false],
  [302, "does not connect to target.example:443 (302)", false],
  [502, "could not connect to target.example:443 (502)", true],
  [504, "could not connect to target.example:443 (504)", true],
])("reports the status %i of a proxy in place of a tunnel", async (status, text, isRetryable) => {
  await useProxy({ onConnect: (socket) => socket.end(`HTTP/1.1 ${status} Status\r\nContent-Length: 3\r\n\r\nno.`) });

  const error = await failureOf(guardedFetch("public")("https://target.example/"));

  expect(error).toMatchObject({ message: expect.stringContaining(text), isRetryable });
});

test.each<[string, NonNullable<ProxyOptions["onConnect"]>]>([
  ["closes", (socket) => socket.destroy()],
  ["ends", (socket) => socket.end()],
  ["speaks another protocol", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
  ["sends endless headers", (socket) => socket.write(`HTTP/1.1 200 OK\r\n${"X-Header: value\r\n".repeat(5000)}`)],
  ["sends a body after 200", (socket) => socket.write("HTTP/1.1 200 OK\r\n\r\n<html>")],
])("fails when the proxy %s in place of a tunnel", async (_, onConnect) => {
  const proxy = await useProxy({ onConnect });

  const error = await failureOf(guardedFetch("public")("https://target.example/"));

  expect(error).toMatchObject({ name: "ProxyFailed", message: expect.stringContaining("Check OUTGOING_PROXY"), isRetryable: true });
  await until(() => proxy.tunnels.size === 0);
});

test("closes the connection when a call is aborted before the tunnel opens", async () => {
  const asked = Promise.withResolvers<void>();
  const proxy = await useProxy({ onConnect: () => asked.resolve() });
  const stop = new AbortController();
  const call = failureOf(guardedFetch("public")("https://target.example/", { signal: stop.signal }));
  await asked.promise;

  stop.abort();

  expect(await call).toMatchObject({ name: "AbortError", code: "ABORT_ERR" });
  await until(() => proxy.tunnels.size === 0);
});

test("ends a tunnel when a response is given up", async () => {
  trustTestAuthority();
  const server = createTlsServer(TEST_SERVER, (_, response) => response.writeHead(200).write("first"));
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  const proxy = await useProxy();

  const response = await guardedFetch("public")(`https://target.example:${port}/`);
  await response.body?.cancel();

  await until(() => proxy.tunnels.size === 0);
});

test("bounds the headers of chunks inside a tunnel", async () => {
  trustTestAuthority();
  const server = createTlsServer(TEST_SERVER);
  server.on("secureConnection", (socket) => {
    const chunks = `${"1\r\na\r\n".repeat(200_000)}0\r\n\r\n`;
    socket.on("error", () => undefined).end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`);
  });
  server.removeAllListeners("request").listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  await useProxy();
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;

  const response = await guardedFetch("public")(`https://target.example:${port}/`);

  await expect(response.text()).rejects.toThrow("longer than 256 KiB of headers of its chunks");
});

test("shows the proxy without user and password", async () => {
  setSettings({ ...NONE, OUTGOING_PROXY: "http://ada:hunter2@proxy.company:3128" });
  expect(shownProxy()).toEqual({ http: "http://proxy.company:3128", https: "http://proxy.company:3128" });

  setSettings({ ...NONE, OUTGOING_PROXY: "env", HTTPS_PROXY: "https://ada:hunter2@proxy.company" });
  expect(shownProxy()).toEqual({ http: null, https: "https://proxy.company:443" });
});
