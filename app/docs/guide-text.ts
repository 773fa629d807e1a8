import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { headers } from "next/headers";

/** The address under which the reader reached this install, so that examples can be pasted as they are. */
export async function baseUrl(): Promise<string> {
  const sent = await headers();
  return `${sent.get("x-forwarded-proto") ?? "http"}://${sent.get("x-forwarded-host") ?? sent.get("host") ?? "localhost:3000"}`;
}

/** The folder of the sources: where Treadle was started, or where its main file is. */
const roots = [process.cwd(), join(process.argv[1] ?? "", "../..")];

/** The text of a file below app/docs, with the reader's own address in place of the usual one. */
export async function guideText(file: string): Promise<string> {
  const base = await baseUrl();
  for (const root of roots) {
    const text = await readFile(join(/* turbopackIgnore: true */ root, "app/docs", file), "utf8").catch(() => undefined);
    if (text !== undefined) return text.trimEnd().replaceAll("http://localhost:3000", base);
  }
  throw new Error(`The file ${file} of the guide is missing.`);
}
