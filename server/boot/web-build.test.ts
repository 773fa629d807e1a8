import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sourceHash } from "#server/boot/web-build.ts";

test("a source that is changed is noticed, and what a check or a test writes beside it is no source", () => {
  const root = mkdtempSync(join(tmpdir(), "treadle-sources-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(root, "server", name), text);
  mkdirSync(join(root, "server"));
  write("main.ts", "1");
  const before = sourceHash(root);
  for (const name of ["tsconfig.check.tsbuildinfo", "main.test.ts", "README.md"]) write(name, "x");
  expect(sourceHash(root)).toBe(before);
  write("main.ts", "2");
  expect(sourceHash(root)).not.toBe(before);
});
