import { randomUUID } from "node:crypto";
import { readCanvasData } from "#server/features/canvases/data.ts";
import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db } from "#server/platform/db/client.ts";
import { newId } from "#server/platform/new-id.ts";
import type { ExecutionStatus } from "#server/runs/schema.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import type { TestDatabase } from "#server/testing/test-database.ts";

/** A graph with Output nodes of these labels. */
export const withOutputs = (...labels: string[]) => {
  const nodes = Object.fromEntries(labels.map((label, index) => [`o${index}`, ["outputNode", { label }]]));
  return graphOf({ nodes: { t: ["triggerNode"], ...nodes }, edges: labels.map((_, index) => `t>o${index}`) } as never); // cast: short for tests
};

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** A workflow with Output nodes whose runs are written as the test says, and what widgets show of them. */
export async function shownWorkflow(database: TestDatabase, ...labels: string[]) {
  const admin = await database.newAdmin();
  const workflow = await createWorkflow(admin, { name: randomUUID(), ...withOutputs(...labels) });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow.id } });
  const common = { project_id: admin.project.id, workflow_id: workflow.id, snapshot_id, trigger: "manual" };
  let minute = 0;
  /** A run that has ended, one minute after the one before unless told otherwise. @returns its id */
  const run = async (
    outputs: Record<string, unknown>,
    { status = "completed", version = 1, at = ++minute }: { status?: ExecutionStatus; version?: number | null; at?: number | Date } = {},
  ): Promise<string> => {
    const time = at instanceof Date ? at : new Date(Date.UTC(2026, 0, 1, 0, at));
    const kept = Object.entries(outputs).map(([label, value]) => ({ node_id: label, label, format: "json", value: textOf(value) }));
    const values = { create: { output: kept[0]?.value ?? null, outputs: kept } };
    const data = { ...common, status, workflow_version: version, created_at: time, completed_at: time, values };
    return (await db().execution.create({ data })).id;
  };
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
