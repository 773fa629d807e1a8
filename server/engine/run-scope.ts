import type { NodeScope } from "#server/engine/define-node.ts";
import type { Scope, ScopeEntry } from "#server/engine/expressions.ts";
import { namesOf } from "#server/engine/graph.ts";
import type { LedgerRow, RunState } from "#server/engine/ports.ts";
import { edgeState, type NodeProgress } from "#server/engine/scheduler.ts";

/** The newest attempt of each node. */
export function latestRows(ledger: readonly LedgerRow[]): Map<string, LedgerRow> {
  const latest = new Map<string, LedgerRow>();
  for (const row of ledger) if ((latest.get(row.node_id)?.attempt ?? 0) <= row.attempt) latest.set(row.node_id, row);
  return latest;
}

/**
 * What expressions can read at this moment of a run: the trigger, the execution, and every node that has ended
 * (a skipped one reads as empty text). Of several nodes with one alias the latest to complete answers to it.
 */
export function runScope(run: RunState, rows: ReadonlyMap<string, LedgerRow>, names: NodeScope): Scope {
  const fieldsOf = (row: LedgerRow) => ({ output: row.status === "failed" ? (row.error ?? "") : (row.output ?? "") });
  const ended = namesOf(run.graph, names)
    .map((named) => ({ ...named, row: rows.get(named.node.id) }))
    .filter((named) => named.row !== undefined && named.row.status !== "running");
  const byCompletion = (a: (typeof ended)[number], b: (typeof ended)[number]) =>
    (b.row?.completed_at?.getTime() ?? 0) - (a.row?.completed_at?.getTime() ?? 0);
  const labels = ended.filter((named) => !named.isAlias);
  const aliases = ended.filter((named) => named.isAlias).sort(byCompletion);
  const entries: ScopeEntry[] = [
    { name: "trigger", fields: { ...run.params, output: run.input } },
    { name: "execution", fields: { id: run.id } },
    ...[...labels, ...aliases].map(({ name, row }) => ({ name, fields: row ? fieldsOf(row) : {} })),
  ];
  return { entries };
}

/** Outputs that live edges bring to `id`, in edge order, joined by a blank line; of a failed node that continues, its error. */
export function upstreamOutput(
  run: RunState,
  rows: ReadonlyMap<string, LedgerRow>,
  progress: ReadonlyMap<string, NodeProgress>,
  id: string,
): string {
  const sources = run.graph.edges
    .filter((edge) => edge.target === id && edgeState(edge, progress.get(edge.source)) === "live")
    .map((edge) => edge.source);
  const outputs = [...new Set(sources)]
    .map((source) => rows.get(source))
    .map((row) => (row?.status === "failed" ? row.error : row?.output) ?? "");
  return outputs.filter((text) => text !== "").join("\n\n");
}
