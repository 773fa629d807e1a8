import type { Prisma } from "#prisma/generated/client.ts";
import { readingKey } from "#server/features/canvases/readings.ts";
import type { Widget } from "#server/features/canvases/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";
import { outputNode } from "#server/workflow/nodes/output-node.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Widgets read an Output node by its label, and follow the node when a save of its workflow changes the label.

type Tx = Prisma.TransactionClient;

/** Canvases that an answer names. */
const MAX_LISTED = 50;

/** The canvases that a save of a workflow has changed. */
interface ChangedCanvases {
  items: { id: string; name: string }[];
  total: number;
}

export const NO_CANVASES: ChangedCanvases = { items: [], total: 0 };

/** Labels of the Output nodes of a graph by node id, disabled ones included. */
const labelsById = ({ nodes }: Graph): Map<string, string> =>
  new Map(nodes.filter(({ type }) => definitionOf(type)?.group === "output").map((node) => [node.id, labelOf(node)]));

/** The new labels of Output nodes that keep their ids, by former label. */
function renamedOutputs(before: Graph, after: Graph): Record<string, string> {
  const now = labelsById(after);
  const renamed = [...labelsById(before)].flatMap(([id, label]) => {
    const to = now.get(id);
    return to === undefined || to === label ? [] : [[label, to] as const];
  });
  return Object.fromEntries(renamed);
}

/** Rewrites the widgets of a project that read these labels. Rows are locked in one order, since two saves may change the same canvases. */
const rewriteWidgets = (tx: Tx, project_id: string, workflow_id: string, renames: string) => tx.$queryRaw<{ id: string; name: string }[]>`
  WITH reading AS MATERIALIZED (
    SELECT id FROM canvases c
    WHERE project_id = ${project_id}::uuid AND EXISTS (
      SELECT FROM jsonb_array_elements(c.widgets) AS w
      WHERE w->>'workflow_id' = ${workflow_id} AND ${renames}::jsonb -> (w->>'output_label') IS NOT NULL
    )
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE canvases c SET
    updated_at = greatest(clock_timestamp(), c.updated_at + interval '1 millisecond'),
    widgets = (
      SELECT jsonb_agg(
        CASE WHEN w->>'workflow_id' = ${workflow_id} AND ${renames}::jsonb -> (w->>'output_label') IS NOT NULL
          THEN jsonb_set(w, '{output_label}', ${renames}::jsonb -> (w->>'output_label')) ELSE w END
        ORDER BY n)
      FROM jsonb_array_elements(c.widgets) WITH ORDINALITY AS e(w, n)
    )
  FROM reading WHERE c.id = reading.id RETURNING c.id, c.name`;

/** Renames what is kept of the values of these labels, so that it stays with the widgets. */
async function renameReadings(tx: Tx, workflow_id: string, renames: Record<string, string>): Promise<void> {
  const rows = await tx.$queryRaw<{ id: number; output_label: string; path: string }[]>`
    SELECT id, output_label, path FROM readings
    WHERE workflow_id = ${workflow_id}::uuid AND output_label = ANY(${Object.keys(renames)}) ORDER BY id FOR UPDATE`;
  if (rows.length === 0) return;
  // Two labels may be exchanged, and no two readings of a workflow have one key at any moment.
  await tx.$executeRaw`UPDATE readings SET key = 'renamed ' || id WHERE id = ANY(${rows.map(({ id }) => id)}::int[])`;
  const wanted = rows.map(({ id, output_label: from, path }) => {
    const output_label = renames[from] ?? from;
    return { id, output_label, key: readingKey({ output_label, path }) };
  });
  // A reading that has the key already is of widgets which named the label before any node had it. It is read from the past again.
  const merged = await tx.$queryRaw<{ id: number; into: number }[]>`
    UPDATE readings r SET filled_at = CASE WHEN r.path = '' THEN r.filled_at END, before_at = NULL, before_id = NULL, done = 0, total = NULL
    FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) AS w(id int, key text)
    WHERE r.workflow_id = ${workflow_id}::uuid AND r.key = w.key RETURNING w.id, r.id AS into`;
  for (const { id, into } of merged) {
    await tx.$executeRaw`
      INSERT INTO canvas_readings (canvas_id, reading_id) SELECT canvas_id, ${into}::int FROM canvas_readings WHERE reading_id = ${id}
      ON CONFLICT DO NOTHING`;
    await tx.canvasReading.deleteMany({ where: { reading_id: id } });
  }
  const kept = wanted.filter(({ id }) => !merged.some((one) => one.id === id));
  await tx.$executeRaw`
    UPDATE readings r SET output_label = w.output_label, key = w.key
    FROM jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) AS w(id int, output_label text, key text) WHERE r.id = w.id`;
  if (merged.length > 0) await tx.$executeRaw`SELECT pg_notify('treadle_reading', '')`;
}

/**
 * Lets widgets follow Output nodes whose labels a save changes. The transaction holds the row of the workflow, so that no canvas
 * over it is saved meanwhile.
 * @param before graph of the current version
 * @param after graph of the next one
 */
export async function renameOutputs(
  tx: Tx,
  principal: ProjectPrincipal,
  workflow_id: string,
  before: Graph,
  after: Graph,
): Promise<ChangedCanvases> {
  const renames = renamedOutputs(before, after);
  if (Object.keys(renames).length === 0) return NO_CANVASES;
  const changed = await rewriteWidgets(tx, principal.project.id, workflow_id, JSON.stringify(renames));
  await renameReadings(tx, workflow_id, renames);
  for (const { id, name } of changed) {
    const resource = { resource_type: "canvas", resource_id: id, resource_name: name } as const;
    await recordAudit(tx, principal, {
      action: "canvas.update",
      ...resource,
      detail: { changed: ["widgets"], renamed_outputs_of: workflow_id },
    });
    await tx.$executeRaw`SELECT pg_notify('treadle_canvas', ${id})`;
  }
  return { items: changed.slice(0, MAX_LISTED), total: changed.length };
}

/** Versions of a workflow that are searched for a former label. */
const MAX_VERSIONS = 20;

/** Ids of the Output nodes that had these labels in earlier versions of a workflow, by label; of several the latest. */
async function formerIds(tx: Tx, workflow_id: string, labels: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.$queryRaw<{ id: string; label: string }[]>`
    SELECT DISTINCT ON (label) label, id FROM (
      SELECT v.version, n->>'id' AS id, coalesce(nullif(btrim(n->'data'->>'label'), ''), ${outputNode.title}) AS label
      FROM (
        SELECT version, snapshot_id FROM workflow_versions
        WHERE workflow_id = ${workflow_id}::uuid ORDER BY version DESC LIMIT ${MAX_VERSIONS}
      ) AS v
      JOIN workflow_snapshots s ON s.id = v.snapshot_id CROSS JOIN LATERAL jsonb_array_elements(s.graph->'nodes') AS n
      WHERE n->>'type' = ${outputNode.type}
    ) AS former WHERE label = ANY(${labels}) ORDER BY label, version DESC`;
  return new Map(rows.map(({ label, id }) => [label, id]));
}

/**
 * Widgets with the current labels of Output nodes in place of former ones. The transaction holds the rows of their workflows.
 */
export async function withCurrentLabels(tx: Tx, project_id: string, widgets: readonly Widget[]): Promise<Widget[]> {
  const ids = [...new Set(widgets.map(({ workflow_id }) => workflow_id))].filter(isUuid);
  const rows = await tx.workflow.findMany({
    where: { project_id, deleted_at: null, id: { in: ids } },
    select: { id: true, snapshot_id: true },
  });
  const current = new Map<string, string>();
  const keyOf = (workflow_id: string, label: string) => `${workflow_id} ${label}`;
  for (const { id, snapshot_id } of rows) {
    const now = labelsById(await snapshotGraph(snapshot_id, tx));
    const known = new Set(now.values());
    const own = widgets.filter(({ workflow_id }) => workflow_id === id);
    const missing = new Set(own.flatMap(({ output_label: label }) => (label === null || known.has(label) ? [] : [label])));
    const former = missing.size > 0 ? await formerIds(tx, id, [...missing]) : [];
    for (const [label, node_id] of former) {
      const to = now.get(node_id);
      if (to !== undefined) current.set(keyOf(id, label), to);
    }
  }
  return widgets.map((widget) => {
    const label = widget.output_label === null ? undefined : current.get(keyOf(widget.workflow_id, widget.output_label));
    return label === undefined ? widget : { ...widget, output_label: label };
  });
}
