import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { compressFiles, serveCompressed } from "#server/http/compressed-files.ts";

const SCRIPT = "export const words = 'a script of some length';\n".repeat(40);

async function serve() {
  const folder = await mkdtemp(join(tmpdir(), "treadle-static-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "chunks"));
  await writeFile(join(folder, "chunks/a.js"), SCRIPT);
  await writeFile(join(folder, "font.woff2"), "compressed already");
  await compressFiles(folder);
  const server = createServer(serveCompressed(folder, "/static/", (_, response) => void response.end("next")));
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  /** As `fetch` sends nothing: with these words about encodings, and the path as it stands. */
  const get = (path: string, encodings = "gzip, deflate, br", method = "GET") =>
    new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, method, headers: { "accept-encoding": encodings } }, async (response) => {
        resolve({ headers: response.headers, body: Buffer.concat(await response.toArray()) });
      });
      sent.once("error", reject).end();
    });
  return { folder, get };
}

test("a script comes compressed, with its type, and is kept for ever", async () => {
  const { get } = await serve();
  const { headers, body } = await get("/static/chunks/a.js?dpl=1");
  expect(brotliDecompressSync(body).toString()).toBe(SCRIPT);
  expect(headers).toMatchObject({
    "content-encoding": "br",
    "content-type": "application/javascript; charset=UTF-8",
    "content-length": String(body.length),
    "cache-control": "public, max-age=31536000, immutable",
    vary: "Accept-Encoding",
  });
});

test("what cannot be read, is not asked for so, or is not there, is left to the next", async () => {
  const { folder, get } = await serve();
  const answers = [
    get("/static/chunks/a.js", "gzip, deflate"),
    get("/static/chunks/a.js", "vibrant"),
    get("/static/font.woff2"),
    get("/static/chunks/a.js.br"),
    get("/static/chunks/../chunks/a.js"),
    get("/static/chunks/b.js"),
    get("/static/chunks/a.js", "br", "POST"),
  ];
  for (const { body, headers } of await Promise.all(answers))
    expect([String(body), headers["content-encoding"]]).toEqual(["next", undefined]);
  await rm(join(folder, "chunks/a.js.br"));
  expect(String((await get("/static/chunks/a.js")).body)).toBe("next");
});
