import { expect, test } from "vitest";
import { folderTree } from "#components/workflows/folders.ts";

test("folders stand in the order of a tree, with the ones between, and count what is within them", () => {
  const folders = ["B", "A b", "A/x/y", "A/c", "a2"].map((folder) => ({ folder, count: 2 }));
  expect(folderTree(folders).map(({ path, depth, count }) => [path, depth, count])).toEqual([
    ["A", 0, 4],
    ["A/c", 1, 2],
    ["A/x", 1, 2],
    ["A/x/y", 2, 2],
    ["A b", 0, 2],
    ["a2", 0, 2],
    ["B", 0, 2],
  ]);
});
