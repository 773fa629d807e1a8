import { db } from "#server/platform/db/client.ts";
import { credentialOf, referencesOf } from "#server/workflow/expressions.ts";
import { definitionOf, templateFields } from "#server/workflow/graph.ts";
import { Graph, type GraphNode } from "#server/workflow/schema.ts";

/** True when an expression of the node reads `{{credentials.<name>}}`. */
function names(node: GraphNode, name: string): boolean {
  const definition = definitionOf(node.type);
  const templates = definition ? templateFields(definition).map((field) => String(node.data[field] ?? "")) : [];
  return templates.flatMap((template) => referencesOf(template)).some((reference) => credentialOf(reference) === name);
}

/**
 * The project's workflows whose saved version or draft reads a credential, by name of the workflow. The database leaves
 * out the graphs that cannot; what is left is read by the parser of the run. Takes time in proportion to the project's
 * graphs, which the deletion of a credential is rare enough for.
 * @param name letters, digits and underscores
 */
export async function workflowsReading(project_id: string, name: string): Promise<{ name: string }[]> {
  const pattern = `\\{\\{[^{}]*credentials[^{}]*${name}`;
  const rows = await db().$queryRaw<{ id: string; name: string; graph: unknown }[]>`
    SELECT w.id, w.name, g.graph
    FROM workflows w
    CROSS JOIN LATERAL (
      SELECT graph FROM workflow_snapshots WHERE id = w.snapshot_id
      UNION ALL
      SELECT graph FROM workflow_drafts WHERE workflow_id = w.id
    ) g
    WHERE w.project_id = ${project_id}::uuid AND w.deleted_at IS NULL AND g.graph::text ~* ${pattern}
    ORDER BY w.name, w.id`;
  const readers = rows.filter(({ graph }) => Graph.parse(graph).nodes.some((node) => names(node, name)));
  return [...new Map(readers.map((row) => [row.id, { name: row.name }])).values()];
}
