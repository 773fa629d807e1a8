import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("a process that knows how to start a database ends with the exit code that it has set", () => {
  const script = 'await import("#server/platform/db/embedded.ts"); process.exitCode = 3;';
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" });
  expect([status, stderr]).toEqual([3, ""]);
});
