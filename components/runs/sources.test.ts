import { expect, test } from "vitest";
import { placeOfPassage } from "#components/knowledge/document-dialog.tsx";
import { hrefOf } from "#components/runs/sources.tsx";
import type { ToolSource } from "#server/runs/tool-call-schema.ts";

const page = { rag_id: null, document_id: null, number: null, title: "Looms", uri: "https://example.com/looms", place: "", read_at: null };
const source = (fields: Partial<ToolSource>): ToolSource => ({ ...page, excerpt: "The looms stand in the cellar, well-oiled.", ...fields });

test("a source leads to its passage here, to the words of a page in a store of one's own, and to a page that was read", () => {
  const kept = source({ rag_id: "r", document_id: "d 1", read_at: "2026-11-02T09:14:05.120Z" });
  expect(hrefOf(kept)).toEqual({
    href: "/knowledge/r?document=d+1&passage=The+looms+stand+in+the+cellar%2C+well-oiled.",
    isAway: false,
  });
  const elsewhere = source({ rag_id: "r", document_id: "7" });
  expect(hrefOf(elsewhere)).toEqual({
    href: "https://example.com/looms#:~:text=The%20looms%20stand%20in%20the%20cellar%2C%20well%2Doiled.",
    isAway: true,
  });
  expect(hrefOf({ ...elsewhere, uri: "javascript:alert(1)" })).toEqual({ href: "/knowledge/r?document=7", isAway: false });
  expect(hrefOf(source({}))).toEqual({ href: page.uri, isAway: true });
  expect(hrefOf(source({ uri: null }))).toBeNull();
});

test("a passage is found however the text is broken into lines, and signs in it are only signs", () => {
  const text = "Before.\n\nPrices (in\n  euro): 3.50 + tax\nAfter.";
  expect(text.slice(...(placeOfPassage(text, "Prices (in euro): 3.50 + ta") ?? [0, 0]))).toBe("Prices (in\n  euro): 3.50 + ta");
  expect([placeOfPassage(text, "Prices .in"), placeOfPassage(text, " \n")]).toEqual([null, null]);
});
