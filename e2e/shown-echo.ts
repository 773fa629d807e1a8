import { graphOf } from "#e2e/api/graphs.ts";

/** A graph whose Output shows what the run was given. */
export const echo = graphOf(
  { t: ["trigger", { label: "Start" }], o: ["output", { label: "Result", format: "json", value: "{{trigger.output}}" }] },
  ["t>o"],
);

/** A widget that shows the number `n` of what that graph gives. */
export const total = (workflow_id: string) => ({
  ...{ id: "total", type: "number", title: "Total", workflow_id, output_label: "Result" },
  ...{ layout: { x: 0, y: 0, w: 3, h: 2 }, options: { path: "$.n" } },
});
