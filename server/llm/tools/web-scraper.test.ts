import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scrape, webScraperTool } from "#server/llm/tools/web-scraper.ts";
import { setSettings } from "#server/platform/settings.ts";
import { encodedBomb } from "#server/testing/bombs.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";

beforeEach(() => setSettings({ ALLOW_PRIVATE_NETWORK: "1" }));
afterEach(() => setSettings({ ALLOW_PRIVATE_NETWORK: "0" }));

const { signal } = new AbortController();
const reading = { owner: "project", signal };
type Answer = string | Buffer | { status?: number; type?: string; body?: string | Buffer; headers?: Record<string, string> };

/** A site of its own, so that no test sees what another one cached. */
async function site(pages: Record<string, Answer | ((response: ServerResponse) => void)>) {
  const server = await serveHttp((response, _, { path }) => {
    const page = pages[path];
    if (page === undefined) return response.writeHead(404).end();
    if (typeof page === "function") return page(response);
    const {
      status = 200,
      type = "text/html; charset=utf-8",
      body = "",
      headers = {},
    } = typeof page === "string" || Buffer.isBuffer(page) ? { body: page } : page;
    return response.writeHead(status, { "content-type": type, ...headers }).end(body);
  });
  return { ...server, paths: () => server.requests.map(({ path }) => path) };
}

const filler = "A treadle loom is worked with the feet, which leaves both hands free for the shuttle. ".repeat(8);
const article = `<!doctype html><html><head><title>Looms - Weaving</title><style>p{color:red}</style></head><body>
<nav><a href="/home">Home</a></nav>
<article><h1>Looms</h1><p>${filler}</p><p>Read <a href="../more?a=1#x">more</a> or <a href="javascript:alert(1)">this</a>.</p>
<table><tr><th>Part</th><th>Use</th></tr><tr><td>Heddle</td><td>lifts</td></tr></table>
<ul><li>warp</li><li>weft</li></ul><pre><code>weave()</code></pre>
<script>document.title = "hacked"; document.body.innerHTML = "hacked";</script><img src="/p.png" alt="A loom"></article>
<footer>Imprint</footer></body></html>`;

test("an article becomes Markdown with full addresses, without what is around it", async () => {
  const { url } = await site({ "/a/looms": article });
  const page = await scrape(`${url}/a/looms#parts`, reading);
  expect(page).toMatchObject({ url: `${url}/a/looms`, truncated: false });
  expect(page.title).toMatch(/^Looms/);
  expect(page.markdown).toContain(`[more](${url}/more?a=1#x) or this.`);
  expect(page.markdown).toContain("| Part | Use |\n| --- | --- |\n| Heddle | lifts |");
  expect(page.markdown).toContain("-   warp\n-   weft");
  expect(page.markdown).toContain(`![A loom](${url}/p.png)`);
  expect(page.markdown).not.toMatch(/Home|Imprint|hacked|color|javascript/);
});

test.each([
  ["UTF-8", Buffer.from("<p>Größe für naïve Gäste")],
  ["windows-1252", Buffer.from("<p>Größe für naïve Gäste", "latin1")],
])("reads a page in undeclared %s", async (_, body) => {
  const { url } = await site({ "/p": { type: "text/html", body } });

  await expect(scrape(`${url}/p`, reading)).resolves.toMatchObject({ markdown: "Größe für naïve Gäste" });
});

test("nothing that a page names is loaded, and none of its scripts run", async () => {
  const { url, paths } = await site({
    "/p": `<html><head><link rel="stylesheet" href="/s.css"><script src="/x.js"></script></head><body onload="fetch('/onload')">
      <iframe src="/frame"></iframe><img src="/i.png"><object data="/o"></object><script>fetch("/ran")</script><p>${filler}</p></body></html>`,
  });
  await scrape(`${url}/p`, reading);
  expect(paths()).toEqual(["/robots.txt", "/p"]);
});

test("robots.txt is honoured, and asked once", async () => {
  const { url, paths } = await site({
    "/robots.txt": { type: "text/plain", body: "User-agent: *\nDisallow: /\n\nUser-agent: Treadle\nDisallow: /secret" },
    "/open": `<p>${filler}</p>`,
    "/secret": "<p>not for you</p>",
    "/hop": { status: 302, headers: { location: "/secret" } },
  });
  await expect(scrape(`${url}/open`, reading)).resolves.toMatchObject({ markdown: expect.stringContaining("treadle loom") });
  await expect(scrape(`${url}/secret`, reading)).rejects.toMatchObject({
    message: expect.stringMatching(/does not want programs to read \/secret/),
  });
  await expect(scrape(`${url}/hop`, reading)).rejects.toMatchObject({ message: expect.stringContaining("/secret") });
  expect(paths()).toEqual(["/robots.txt", "/open", "/hop"]);
});

test("while robots.txt fails nothing is read, and it is asked again", async () => {
  const { url, paths } = await site({ "/robots.txt": { status: 503 }, "/x": `<p>${filler}</p>` });
  for (let round = 0; round < 2; round += 1)
    await expect(scrape(`${url}/x`, reading)).rejects.toMatchObject({ message: expect.stringContaining("robots.txt fails") });
  expect(paths()).toEqual(["/robots.txt", "/robots.txt"]);
});

test("a redirect is followed to another server, whose robots.txt counts", async () => {
  const target = await site({ "/robots.txt": { type: "text/plain", body: "User-agent: *\nDisallow: /no" }, "/yes": `<p>${filler}</p>` });
  const { url } = await site({
    "/yes": { status: 301, headers: { location: `${target.url}/yes` } },
    "/no": { status: 301, headers: { location: `${target.url}/no` } },
    "/loop": { status: 302, headers: { location: "/loop" } },
    "/file": { status: 302, headers: { location: "file:///etc/passwd" } },
  });
  await expect(scrape(`${url}/yes`, reading)).resolves.toMatchObject({ url: `${target.url}/yes` });
  await expect(scrape(`${url}/no`, reading)).rejects.toMatchObject({ message: expect.stringContaining("robots.txt") });
  await expect(scrape(`${url}/loop`, reading)).rejects.toMatchObject({ message: expect.stringContaining("redirects more than 5 times") });
  await expect(scrape(`${url}/file`, reading)).rejects.toMatchObject({ name: "AppError" });
  expect(target.paths()).toEqual(["/robots.txt", "/yes"]);
});

test.each([
  "http://127.0.0.1:1/",
  "http://[::1]/",
  "http://169.254.169.254/latest/meta-data",
  "http://localhost:1/",
  "http://2130706433/",
  "http://0x7f.1/",
])("%s is refused where the operator did not open the own network", async (address) => {
  setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE: "1" });
  await expect(scrape(address, reading)).rejects.toMatchObject({ message: expect.stringContaining("private or reserved network") });
  setSettings({ TREADLE_EMBEDDED_DATABASE: "0" });
});

test.each([
  ["ftp://example.com/", /http and https/],
  ["file:///etc/passwd", /http and https/],
  ["javascript:alert(1)", /http and https/],
  ["https://me:secret@example.com/", /password/],
  ["", /no address/],
  ["http://", /no address/],
])("%j is refused", async (address, message) => {
  await expect(scrape(address, reading)).rejects.toMatchObject({ message: expect.stringMatching(message) });
});

test("plain text and JSON come as they are, in the encoding that was declared", async () => {
  const { url } = await site({
    "/t.txt": { type: "text/plain; charset=iso-8859-1", body: Buffer.from("K\u00e4se", "latin1") },
    "/report.php": { type: "application/json", body: '{"a":1}' },
    "/h": { type: "text/html; charset=windows-1252", body: Buffer.from(`<p>Gr\u00fc\u00dfe</p>`, "latin1") },
  });
  await expect(scrape(`${url}/t.txt`, reading)).resolves.toMatchObject({ title: "t.txt", markdown: "K\u00e4se" });
  await expect(scrape(`${url}/report.php`, reading)).resolves.toMatchObject({ markdown: '{"a":1}' });
  await expect(scrape(`${url}/h`, reading)).resolves.toMatchObject({ markdown: "Gr\u00fc\u00dfe" });
});

/** A PDF of one page with one line, written by hand. */
function pdf(text: string): Buffer {
  const stream = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const at = body.length;
    body += `${index + 1} 0 obj${object}endobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  return Buffer.from(
    `${body}xref\n0 6\n0000000000 65535 f \n${offsets.join("")}trailer<</Size 6/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF`,
    "latin1",
  );
}

test("a PDF comes as text, by page", async () => {
  const { url } = await site({ "/f": { type: "application/pdf", body: pdf("Warp and weft") } });
  await expect(scrape(`${url}/f`, reading)).resolves.toMatchObject({ markdown: "## Page 1\n\nWarp and weft", truncated: false });
});

test("what is no text, what fails and what is empty is told", async () => {
  const { url } = await site({
    "/p.png": { type: "image/png", body: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0]) },
    "/gone": { status: 410 },
    "/empty": "<html><body><div id=root></div><script>render()</script></body></html>",
  });
  await expect(scrape(`${url}/p.png`, reading)).rejects.toMatchObject({ message: expect.stringContaining("cannot be read") });
  await expect(scrape(`${url}/gone`, reading)).rejects.toMatchObject({ message: expect.stringMatching(/answered 410 for \/gone/) });
  await expect(scrape(`${url}/empty`, reading)).rejects.toMatchObject({ message: expect.stringContaining("no text of its own") });
});

test("a page without end and a long one are cut, and say so", async () => {
  const { url } = await site({
    "/long": `<p>${"word ".repeat(30_000)}</p>`,
    "/endless": (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_000_000)));
      };
      response.on("drain", more);
      more();
    },
  });
  const page = await scrape(`${url}/long`, { ...reading, mostCharacters: 1000 });
  expect(page).toMatchObject({ truncated: true });
  expect(page.markdown).toHaveLength(1000);
  await expect(scrape(`${url}/endless`, { ...reading, mostCharacters: 1000 })).rejects.toMatchObject({
    message: expect.stringMatching(/million characters/),
  });
});

test.each(["gzip", "br"] as const)(
  "an answer that %s made small is cut where it unpacks to too much, and this process stays small",
  async (encoding) => {
    const body = encodedBomb(encoding, 300);
    const headers = { "content-encoding": encoding };
    const { url } = await site({
      "/page": { headers, body },
      "/file": { type: "application/octet-stream", headers, body },
    });
    const before = process.memoryUsage.rss();
    await expect(scrape(`${url}/page`, reading)).rejects.toMatchObject({ message: expect.stringContaining("no text of its own") });
    await expect(scrape(`${url}/file`, reading)).rejects.toThrow();
    expect((process.memoryUsage.rss() - before) / 1024 / 1024).toBeLessThan(150);
  },
);

test("the tool answers with title, address and text, and an abort is an abort", async () => {
  const { url } = await site({ "/a": article });
  const answer = await webScraperTool("project").call({ url: `${url}/a` }, { signal });
  expect(answer).toMatchObject({ success: true, result: expect.stringContaining(`\n${url}/a\n\n`) });
  await expect(webScraperTool("project").call({}, { signal })).resolves.toMatchObject({ success: false });
  const hanging = await site({ "/a": () => undefined });
  const abort = new AbortController();
  const reason = new Error("cancelled");
  const call = webScraperTool("project").call({ url: `${hanging.url}/a` }, { signal: abort.signal });
  setTimeout(() => abort.abort(reason), 50);
  await expect(call).rejects.toBe(reason);
}, 60_000);
