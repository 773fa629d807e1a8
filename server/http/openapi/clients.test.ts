import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, onTestFinished, test } from "vitest";
import { openApiDocument } from "#server/http/openapi/document.ts";

// What readers of the guide do: generate types from the document, and compile a client against them.

const root = join(import.meta.dirname, "../../..");
const examples = join(root, "app/docs/examples");

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  target: "es2024",
  module: "nodenext",
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
  types: ["node"],
};

/** What the compiler says about the examples of the guide and these files beside them. */
function complaints(written: Record<string, string>): string[] {
  const artifacts = join(root, "e2e/artifacts"); // below our packages, which the examples import
  mkdirSync(artifacts, { recursive: true });
  const folder = mkdtempSync(join(artifacts, "clients-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(examples, folder, { recursive: true });
  const files = { "tsconfig.json": JSON.stringify({ compilerOptions }), ...written };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["--project", folder, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(status).not.toBeNull();
  return stdout.split("\n").filter((line) => /^\S/.test(line));
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

test("the clients of the guide compile against types made of the document; what is misspelled does not", { timeout: 180_000 }, async () => {
  expect(globSync("*.ts", { cwd: examples })).toContain("client.ts");
  const types = astToString(await openapiTS(JSON.stringify(openApiDocument())));
  const found = complaints({ "treadle.d.ts": types, "misspelled.ts": misspelled });
  expect(found.filter((complaint) => !complaint.startsWith("misspelled.ts"))).toEqual([]);
  // The path, the parameter, the field of a body, the field of an event, the name of an event.
  for (const word of ["Expected 2 arguments", "'pages'", "'nmae'", "'output'", '"node_started"']) expect(found.join("\n")).toContain(word);
  expect(found).toHaveLength(5);
});
