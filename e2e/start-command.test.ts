import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { START_ARGUMENTS } from "#e2e/server.ts";

test("the image starts what `npm start` starts", () => {
  expect(START_ARGUMENTS.at(-1)).toBe("server/main.ts");
  const [, command = ""] = /^CMD (\[.*\])$/m.exec(readFileSync(join(import.meta.dirname, "../Dockerfile"), "utf8")) ?? [];
  expect(JSON.parse(command)).toEqual(["node", ...START_ARGUMENTS]);
});
