import { expect, test } from "vitest";
import { onlySelected } from "#components/workflow-editor/canvas/cards/flow-edge.tsx";

test("the one edge that is selected, and none of several", () => {
  const edge = (id: string, selected: boolean) => ({ id, selected });
  expect(onlySelected([edge("a", false), edge("b", true)])).toBe("b");
  expect(onlySelected([edge("a", true), edge("b", true)])).toBeNull();
  expect(onlySelected([])).toBeNull();
});

test("five hundred edges that ask look through the list once", () => {
  let reads = 0;
  const edges = Array.from({ length: 500 }, (_, index) => ({
    id: `${index}`,
    get selected() {
      reads++;
      return true;
    },
  }));
  for (const _ of edges) onlySelected(edges);
  expect(reads).toBe(500);
});
