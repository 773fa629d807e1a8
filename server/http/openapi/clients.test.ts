import { globSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { beforeAll, expect, test } from "vitest";
import { openApiDocument } from "#server/http/openapi/document.ts";

// What readers of the guide do: generate types from the document, and compile a client against them.

const folder = join(import.meta.dirname, "../../../app/docs/examples");
const typesFile = join(folder, "treadle.d.ts");

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: false,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: false,
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  types: ["node"],
};

let types = "";

beforeAll(async () => {
  types = astToString(await openapiTS(JSON.stringify(openApiDocument())));
});

/** What the compiler says about these files of the folder, some of which exist only here. */
function complaints(files: string[], written: Record<string, string> = {}): string[] {
  const virtual = new Map([[typesFile, types], ...Object.entries(written).map(([name, text]) => [join(folder, name), text] as const)]);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? readFile(path);
  host.getSourceFile = (path, ...rest) => {
    const text = virtual.get(path);
    return text === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, text, ts.ScriptTarget.ES2024);
  };
  const program = ts.createProgram(
    files.map((file) => join(folder, file)),
    options,
    host,
  );
  const ours = ts.getPreEmitDiagnostics(program).filter(({ file }) => !file || file.fileName.startsWith(folder));
  return ours.map(
    ({ file, messageText }) => `${file?.fileName.slice(folder.length + 1)}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
  );
}

const misspelled = `
  import { type ExecutionEvent, treadle } from "./client.ts";
  await treadle.GET("/workflow");
  await treadle.GET("/workflows", { params: { query: { pages: 1 } } });
  await treadle.POST("/platform-keys", { body: { nmae: "x" } });
  const event = {} as ExecutionEvent;
  if (event.type === "node_delta") event.output;
  if (event.type === "node_started") event;
`;

test("the clients of the guide compile against types made of the document; what is misspelled does not", { timeout: 180_000 }, () => {
  const examples = globSync("*.ts", { cwd: folder }).filter((file) => file !== "treadle.d.ts");
  expect(examples).toContain("client.ts");
  const found = complaints([...examples, "misspelled.ts"], { "misspelled.ts": misspelled });
  expect(found.filter((complaint) => !complaint.startsWith("misspelled.ts"))).toEqual([]);
  // The path, the parameter, the field of a body, the field of an event, the name of an event.
  for (const word of ["Expected 2 arguments", "'pages'", "'nmae'", "'output'", '"node_started"']) expect(found.join("\n")).toContain(word);
  expect(found).toHaveLength(5);
});
