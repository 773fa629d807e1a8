import { randomUUID } from "node:crypto";
import { readCanvasData } from "#server/features/canvases/data.ts";
import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { newId } from "#server/platform/new-id.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import type { TestDatabase } from "#server/testing/test-database.ts";

/** A graph with Output nodes of these labels. */
export const withOutputs = (...labels: string[]) => {
  const nodes = Object.fromEntries(labels.map((label, index) => [`o${index}`, ["outputNode", { label }]]));
  return graphOf({ nodes: { t: ["triggerNode"], ...nodes }, edges: labels.map((_, index) => `t>o${index}`) } as never); // cast: short for tests
};

/** A workflow with Output nodes whose runs are written as the test says, and what widgets show of them. */
export async function shownWorkflow(database: TestDatabase, ...labels: string[]) {
  const admin = await database.newAdmin();
  const workflow = await createWorkflow(admin, { name: randomUUID(), ...withOutputs(...labels) });
  let minute = 0;
  /** A run that has ended, one minute after the one before unless told otherwise. @returns its id */
  const run = (
    outputs: Record<string, unknown>,
    { at = ++minute, ...more }: { status?: ExecutionStatus; version?: number | null; at?: number | Date } = {},
  ): Promise<string> =>
    endedRun(admin, workflow.id, outputs, { ...more, at: at instanceof Date ? at : new Date(Date.UTC(2026, 0, 1, 0, at)) });
  const widget = (fields: object): Widget =>
    ({
      id: "w",
      title: "",
      workflow_id: workflow.id,
      output_label: labels[0] ?? null,
      layout: { x: 0, y: 0, w: 1, h: 1 },
      ...fields,
    }) as Widget; // cast: parts of one
  const show = async (fields: object, options: Parameters<typeof readCanvasData>[1] = {}): Promise<WidgetData> => {
    const { widgets } = await readCanvasData({ id: newId(), project_id: admin.project.id, widgets: [widget(fields)] }, options);
    return widgets[0] as WidgetData;
  };
  return { admin, workflow, run, widget, show };
}
