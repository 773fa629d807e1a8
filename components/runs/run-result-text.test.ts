import { expect, test } from "vitest";
import { runResultText } from "#components/runs/run-result-text.ts";

test("a run tells what came out of it, and never what went in", () => {
  const nothing = { error: null, output: null, input: "the input" };
  expect(runResultText({ ...nothing, status: "completed", output: "done" })).toBe("done");
  expect(runResultText({ ...nothing, status: "failed", error: "broken" })).toBe("broken");
  expect(runResultText({ ...nothing, status: "cancelled" })).toBe("Cancelled");
  expect(runResultText({ ...nothing, status: "rejected" })).toBe("Rejected");
  expect(runResultText({ ...nothing, status: "running" })).toBe("No result yet");
  expect(runResultText({ ...nothing, status: "completed", output: "" })).toBe("No text");
});
