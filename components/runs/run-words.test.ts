import { expect, test } from "vitest";
import { resultWords } from "#components/runs/runs-table.tsx";

test("a run tells what came out of it, and never what went in", () => {
  const nothing = { error: null, output: null, input: "the input" };
  expect(resultWords({ ...nothing, status: "completed", output: "done" })).toBe("done");
  expect(resultWords({ ...nothing, status: "failed", error: "broken" })).toBe("broken");
  expect(resultWords({ ...nothing, status: "cancelled" })).toBe("Cancelled");
  expect(resultWords({ ...nothing, status: "rejected" })).toBe("Rejected");
  expect(resultWords({ ...nothing, status: "running" })).toBe("No result yet");
  expect(resultWords({ ...nothing, status: "completed", output: "" })).toBe("No text");
});
