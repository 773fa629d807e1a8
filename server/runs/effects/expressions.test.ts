import { expect, test } from "vitest";
import { readLongTexts, rewriteLongJson } from "#server/runs/effects/expressions.ts";
import { referencesOf } from "#server/workflow/expressions.ts";
import { rewriteJson } from "#server/workflow/rewrite-json.ts";

test("replaces five million matches within the memory of the process", async () => {
  const [reference] = referencesOf('{{a.output | replace("a", "c") | replace("b", "d") | length}}');
  if (!reference) throw new Error("The template has no reference.");
  const request = { texts: ["ab ".repeat(5_000_000)], reads: [{ reference, text: 0 }] };

  const results = await readLongTexts(request, new AbortController().signal, "project");

  expect(results).toEqual([{ json: "15000000" }]);
});

test("long JSON comes back from the process as it is written here", async () => {
  const text = `{ "list": [${"1, ".repeat(100_000)}2], "id": 12345678901234567890 }`;
  for (const as of ["compact", "indented", "fields"] as const) {
    const rewrite = { text, as };
    expect(await rewriteLongJson(rewrite, new AbortController().signal, "project")).toEqual(rewriteJson(rewrite));
  }
});
