import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { providerIds } from "#server/llm/kinds.ts";

const root = join(import.meta.dirname, "../..");

test("nobody asks for a vendor by name: what is true of one only is a column of the table", () => {
  const asks = new RegExp(`(?:[!=]==|\\bcase) "(?:${providerIds.join("|")})"`);
  const files = ["app", "components", "server"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /(?<!\.test)\.tsx?$/.test(file) && !file.startsWith("testing/"))
      .map((file) => join(folder, file)),
  );
  expect(files.filter((file) => asks.test(readFileSync(join(root, file), "utf8")))).toEqual([]);
});
