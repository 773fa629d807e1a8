import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

const TYPES: Record<string, string> = {
  ".js": "application/javascript; charset=UTF-8",
  ".css": "text/css; charset=UTF-8",
  ".svg": "image/svg+xml",
};
const SUFFIX = ".br";

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/**
 * Puts a Brotli file beside each script, style sheet and drawing of a folder: a seventh smaller than what gzip makes of it at each
 * request, which is what Next would do.
 */
export async function compressFiles(folder: string): Promise<void> {
  const compress = async (file: string) => writeFile(`${file}${SUFFIX}`, await promisify(brotliCompress)(await readFile(file)));
  await Promise.all(filesOf(folder).map((file) => extname(file) in TYPES && compress(file)));
}

/**
 * Answers requests for files that `compressFiles` has compressed, for browsers that read Brotli: they ask for it over HTTPS and on their
 * own machine. The names of these files change with what is in them, so they are kept for ever. Everything else is `next`'s.
 * @param base of the folder's address, e.g. `/_next/static/`
 */
export function serveCompressed(folder: string, base: string, next: Handler): Handler {
  // Only names that were there at the start: nothing that is asked for is ever made a path.
  const known = new Map(
    filesOf(folder)
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => [`${base}${relative(folder, file).slice(0, -SUFFIX.length)}`, file]),
  );
  return async (request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const isAsked = request.method === "GET" && /\bbr\b/.test(String(request.headers["accept-encoding"]));
    const file = isAsked && known.get(path);
    // A file that is gone, since the web app is being built again, is Next's to answer for.
    const content = file && (await readFile(file).catch(() => undefined));
    if (!content) return next(request, response);
    response.writeHead(200, {
      "content-type": TYPES[extname(path)],
      "content-encoding": "br",
      "content-length": content.length,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
    response.end(content);
  };
}
