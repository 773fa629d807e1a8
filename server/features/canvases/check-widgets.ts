import type { Prisma } from "#prisma/generated/client.ts";
import { outputLabels } from "#server/features/canvases/data.ts";
import { GRID_COLUMNS, pathsOf, type Widget } from "#server/features/canvases/schema.ts";
import { AppError } from "#server/platform/errors.ts";
import { pathCostFault, pathFault } from "#server/platform/json-path.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import type { FieldError } from "#server/shared/error-schema.ts";
import { suggestion } from "#server/workflow/expressions.ts";

function faultsOf(widget: Widget, index: number, ids: ReadonlyMap<string, number>, known: ReadonlySet<string>): FieldError[] {
  const at = `widgets.${index}`;
  const { x, w } = widget.layout;
  return [
    ...(ids.get(widget.id) === index
      ? []
      : [{ path: `${at}.id`, message: `Another widget has the id "${widget.id}". Give each its own.` }]),
    ...(x + w > GRID_COLUMNS ? [{ path: `${at}.layout.w`, message: `x + w must be at most ${GRID_COLUMNS}, not ${x + w}.` }] : []),
    ...pathsOf(widget).flatMap(([field, path]) => {
      const message = pathFault(path, "This", "$.total") ?? (known.has(path) ? undefined : pathCostFault(path));
      return message ? [{ path: `${at}.options.${field}`, message }] : [];
    }),
  ];
}

const readingOf = ({ workflow_id, output_label }: Widget) => JSON.stringify([workflow_id, output_label]);

/** What a widget says that the project does not have. */
function sourceFault(widget: Widget, labels: readonly string[] | undefined): { field: string; message: string } | undefined {
  if (!labels) return { field: "workflow_id", message: "There is no such workflow in this project. Choose one of GET /workflows." };
  const { output_label: label } = widget;
  if (label === null || labels.includes(label)) return undefined;
  const message = `The workflow's current version has no Output "${label}".${suggestion(labels, label)} null shows the output of the execution.`;
  return { field: "output_label", message };
}

/**
 * The rules for widgets that their schema cannot say.
 * @param before widgets that the canvas has already: what they read may stay, though it could not be chosen any more
 * @throws AppError VALIDATION_ERROR that lists every fault
 */
export async function checkWidgets(
  tx: Prisma.TransactionClient,
  project_id: string,
  widgets: readonly Widget[],
  before: readonly Widget[] = [],
): Promise<void> {
  const ids = new Map(widgets.map(({ id }, index): [string, number] => [id, index]).reverse());
  const paths = new Set(before.flatMap(pathsOf).map(([, path]) => path));
  const errors = widgets.flatMap((widget, index) => faultsOf(widget, index, ids, paths));
  const wanted = [...new Set(widgets.map(({ workflow_id }) => workflow_id))];
  const found = await tx.workflow.findMany({
    where: { project_id, deleted_at: null, id: { in: wanted.filter(isUuid) } },
    select: { id: true, snapshot_id: true },
  });
  const labels = new Map<string, string[]>();
  for (const { id, snapshot_id } of found) labels.set(id, outputLabels(await snapshotGraph(snapshot_id, tx)));
  const known = new Set(before.map(readingOf));
  const gone = new Set(before.map(({ workflow_id }) => workflow_id).filter((id) => !labels.has(id)));
  for (const [index, widget] of widgets.entries()) {
    const mayStay = known.has(readingOf(widget)) || gone.has(widget.workflow_id);
    const fault = mayStay ? undefined : sourceFault(widget, labels.get(widget.workflow_id));
    if (fault) errors.push({ path: `widgets.${index}.${fault.field}`, message: fault.message });
  }
  if (errors[0]) throw new AppError("VALIDATION_ERROR", `${errors[0].path}: ${errors[0].message}`, { errors });
}
