import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { baseUrl } from "#app/docs/base-url.ts";
import { CodeBlock } from "#components/ui/code-block.tsx";

// The examples of the guide are files, each shown by a page and executed by e2e/api/docs.spec.ts.

/** The folder of the sources: where Treadle was started, or where its main file is. */
const roots = [process.cwd(), join(process.argv[1] ?? "", "../..")];

/**
 * The text of an example, with the reader's own address in place of the usual one.
 * @param file name in app/docs/examples
 */
export async function exampleText(file: string): Promise<string> {
  const base = await baseUrl();
  for (const root of roots) {
    const text = await readFile(join(/* turbopackIgnore: true */ root, "app/docs/examples", file), "utf8").catch(() => undefined);
    if (text !== undefined) return text.trimEnd().replaceAll("http://localhost:3000", base);
  }
  throw new Error(`The example ${file} is missing.`);
}

const KINDS: Record<string, string> = {
  sh: "command",
  ts: "TypeScript",
  py: "Python",
  json: "JSON",
  env: "settings",
  md: "file",
  txt: "stream",
};

export interface ExampleProps {
  /** Name in app/docs/examples. */
  file: string;
  /** What it is, for the copy button; by the file's ending unless given. */
  label?: string;
  /** Shows the file's name above it, where others refer to it. */
  isNamed?: boolean;
}

export async function Example({ file, label = KINDS[file.split(".").at(-1) ?? ""] ?? "example", isNamed = false }: ExampleProps) {
  return <CodeBlock label={label} code={await exampleText(file)} {...(isNamed && { title: file })} />;
}
