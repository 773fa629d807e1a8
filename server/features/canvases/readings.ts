import { hash } from "node:crypto";
import type { Prisma } from "#prisma/generated/client.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import { pathCostFault } from "#server/platform/json-path.ts";
import { isUuid } from "#server/platform/new-id.ts";

// What widgets read of runs, as rows: of these, values are kept when a run ends (fill.ts). Decision 30.

/** A part of the results of a workflow's runs. */
export interface Reading {
  workflow_id: string;
  /** Empty: the output of the run. */
  output_label: string;
  /** JSONPath; empty where only the latest result is looked at, and widgets want to know that there is another. */
  path: string;
}

/** How many parts of a workflow's runs the widgets of a project may read together: each is looked for whenever a run ends. */
const MOST_READ_PARTS = 200;

/** The part at `path` of what is at `base`. */
const joined = (base: string | undefined, path: string) => `${(base ?? "$").trim()}${path.trim().slice(1)}`;

/** The parts of a run that a widget over several runs puts together: one, or of a table one for each column. */
export function partsOf(widget: Widget): string[] {
  if (widget.type === "chart") return [widget.options.y.trim()];
  if (widget.type === "number") return [widget.options?.path?.trim() ?? "$"];
  if (widget.type !== "table") return [];
  const { path, columns } = widget.options ?? {};
  return columns ? columns.map((column) => joined(path, column.path)) : [path?.trim() ?? "$"];
}

/** What has to be kept for a widget. */
export function readingsOf(widget: Widget): Reading[] {
  const { workflow_id, output_label } = widget;
  const parts = widget.options?.over === "runs" ? partsOf(widget).filter((path) => pathCostFault(path) === undefined) : [];
  if (parts.length === 0) return [{ workflow_id, output_label: "", path: "" }];
  return parts.map((path) => ({ workflow_id, output_label: output_label ?? "", path }));
}

/** What a reading is told from others of its workflow by. */
export const readingKey = ({ output_label, path }: Omit<Reading, "workflow_id">): string =>
  hash("sha256", JSON.stringify([output_label, path]), "base64url");

/** Keeps the workflows of widgets from being deleted until the transaction ends. */
export async function holdWorkflows(tx: Prisma.TransactionClient, project_id: string, widgets: readonly Widget[]): Promise<void> {
  const ids = [...new Set(widgets.map(({ workflow_id }) => workflow_id))].filter(isUuid);
  await tx.$queryRaw`SELECT FROM workflows WHERE project_id = ${project_id}::uuid AND id = ANY(${ids}::uuid[]) ORDER BY id FOR SHARE`;
}

/**
 * Takes down what a canvas reads, in the transaction that saves it.
 * @throws AppError VALIDATION_ERROR when the widgets of the project would read too much of a workflow
 */
export async function saveReadings(
  tx: Prisma.TransactionClient,
  { id: canvas_id, project_id }: { id: string; project_id: string },
  widgets: readonly Widget[],
): Promise<void> {
  const keyed = widgets.flatMap(readingsOf).map((reading) => ({ ...reading, key: readingKey(reading) }));
  const wanted = [...new Map(keyed.map((reading) => [`${reading.workflow_id} ${reading.key}`, reading])).values()];
  const rows = await tx.$queryRaw<{ id: number; is_filled: boolean }[]>`
    INSERT INTO readings (project_id, workflow_id, output_label, path, key, filled_at)
    SELECT w.project_id, w.id, r.output_label, r.path, r.key, CASE WHEN r.path = '' THEN now() END
    FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) AS r(workflow_id text, output_label text, path text, key text)
    JOIN workflows w ON w.id::text = r.workflow_id AND w.project_id = ${project_id}::uuid
    ORDER BY w.id, r.key
    ON CONFLICT (workflow_id, key) DO UPDATE SET path = excluded.path
    RETURNING id, filled_at IS NOT NULL AS is_filled`;
  const ids = rows.map(({ id }) => id);
  await tx.canvasReading.deleteMany({ where: { canvas_id, reading_id: { notIn: ids } } });
  await tx.canvasReading.createMany({ data: ids.map((reading_id) => ({ canvas_id, reading_id })), skipDuplicates: true });
  const [full] = await tx.$queryRaw<{ name: string }[]>`
    SELECT w.name FROM workflows w WHERE w.id IN (SELECT workflow_id FROM readings WHERE id = ANY(${ids}::int[]))
      AND (SELECT count(*) FROM readings r WHERE r.workflow_id = w.id AND r.path <> '' AND EXISTS (SELECT FROM canvas_readings c WHERE c.reading_id = r.id)) > ${MOST_READ_PARTS}
    LIMIT 1`;
  if (full)
    throw invalidField(
      "widgets",
      `All widgets together may read ${MOST_READ_PARTS} parts of the runs of the workflow "${full.name}". Use fewer columns, or fewer widgets over several runs.`,
    );
  if (rows.some((row) => !row.is_filled)) await tx.$executeRaw`SELECT pg_notify('treadle_reading', '')`;
}

/** How many values go in one statement, and how long one turn may take, in milliseconds. */
const BATCH = 5000;
const TURN_MS = 20_000;

/** Forgets what no widget reads any more, some thousand values at a time. Not at once: whoever takes a change back finds most as it was. */
export async function removeUnread({ turnMs = TURN_MS } = {}): Promise<void> {
  const until = performance.now() + turnMs;
  const unread = await db().$queryRaw<{ id: number }[]>`
    SELECT id FROM readings r WHERE NOT EXISTS (SELECT FROM canvas_readings c WHERE c.reading_id = r.id) ORDER BY id LIMIT 1000`;
  for (const { id } of unread) {
    // From here on it has to be filled again by whoever wants it.
    const isUnread = await db().$executeRaw`
      UPDATE readings r SET filled_at = NULL, before_at = NULL, before_id = NULL, done = 0, total = NULL
      WHERE id = ${id} AND NOT EXISTS (SELECT FROM canvas_readings c WHERE c.reading_id = r.id)`;
    if (isUnread) await db().$executeRaw`UPDATE reading_hours SET is_fresh = false WHERE reading_id = ${id}`;
    while (isUnread && performance.now() < until) {
      const gone = await db().$executeRaw`
        DELETE FROM reading_values WHERE reading_id = ${id}
          AND execution_id IN (SELECT execution_id FROM reading_values WHERE reading_id = ${id} LIMIT ${BATCH})
          AND NOT EXISTS (SELECT FROM canvas_readings WHERE reading_id = ${id})`;
      if (gone === 0) {
        await db()
          .$executeRaw`DELETE FROM readings r WHERE id = ${id} AND NOT EXISTS (SELECT FROM canvas_readings c WHERE c.reading_id = r.id)`;
        break;
      }
    }
  }
}
