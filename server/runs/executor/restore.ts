import { childPath, Frame, type Iteration, indexOf, parentOf } from "#server/runs/executor/frame.ts";
import type { Ledger } from "#server/runs/executor/ledger.ts";
import { LoopRun } from "#server/runs/executor/loop-run.ts";
import type { LedgerRow, RunState } from "#server/runs/ports.ts";
import { parseJson } from "#server/shared/json-text.ts";
import type { Plan } from "#server/workflow/compile.ts";
import { workOf } from "#server/workflow/disabled.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

/** How often a node may be started before it counts as the reason why its process dies. */
const MOST_STARTS = 5;

/** The newest attempt of each node. */
function latestRows(rows: readonly LedgerRow[]): Map<string, LedgerRow> {
  const latest = new Map<string, LedgerRow>();
  for (const row of rows) if ((latest.get(row.node_id)?.attempt ?? 0) <= row.attempt) latest.set(row.node_id, row);
  // An attempt that was cut off says nothing about its node, whoever closed it.
  for (const [id, row] of latest) if (row.is_interrupted) latest.delete(id);
  return latest;
}

interface Parts {
  run: RunState;
  plan: Plan;
  nodes: ReadonlyMap<string, GraphNode>;
  ledger: Ledger;
  continues(id: string): boolean;
  /** Called for each row that counts, in the frame that it belongs to. */
  recall(frame: Frame, row: LedgerRow): void;
}

/**
 * Builds the frames of a run from what the ledger says: the workflow's own, and one for each iteration that has begun and
 * not ended. Attempts found running belong to a process that died: they are closed, and their nodes start again.
 */
export function restoreFrames({ run, plan, nodes, ledger, continues, recall }: Parts): Frame {
  const own = Map.groupBy(run.ledger, (row) => `${plan.ownerOf(row.node_id) ?? ""} ${row.iteration}`);
  const ended = new Map(run.items.map((items) => [`${items.node_id} ${items.path}`, items]));
  const begun = new Map<string, Set<number>>();
  for (const row of run.ledger) {
    const owner = plan.ownerOf(row.node_id);
    if (owner === null) continue;
    const key = `${owner} ${parentOf(row.iteration)}`;
    begun.set(key, (begun.get(key) ?? new Set()).add(indexOf(row.iteration)));
  }

  const closeInterrupted = (rows: Map<string, LedgerRow>) => {
    for (const row of [...rows.values()]) {
      const work = workOf(nodes.get(row.node_id));
      if (row.status !== "running" || !work?.isEffect) continue;
      if (row.attempt >= (work.mostStarts ?? MOST_STARTS)) rows.set(row.node_id, ledger.giveUp(row));
      else {
        ledger.interrupt(row);
        rows.delete(row.node_id);
      }
    }
    return rows;
  };

  const build = (loop: string | null, path: string, around: { parent: Frame; iteration: Iteration } | null): Frame => {
    const scope = plan.scopes.get(loop);
    if (!scope) throw new Error(`The plan has no scope "${loop}".`);
    const rows = closeInterrupted(latestRows(own.get(`${loop ?? ""} ${path}`) ?? []));
    const frame = new Frame(scope, around, rows, continues);
    frame.isRejected = scope.nodeIds.some((id) => ended.get(`${id} ${path}`)?.isStopped);
    for (const row of rows.values()) {
      recall(frame, row);
      const node = nodes.get(row.node_id);
      const definition = workOf(node);
      if (!node || !definition?.body || row.status !== "running") continue;
      const items = parseJson(row.input ?? "[]") as unknown[];
      const write = { model: null, tool_calls: null, duration_ms: null, ...row };
      const run = new LoopRun(write, frame, items, definition.body.settings(definition.config.parse(node.data)));
      const before = ended.get(`${node.id} ${path}`);
      if (before) run.recall(before);
      for (const index of begun.get(`${node.id} ${path}`) ?? []) {
        if (run.hasEnded(index)) continue;
        const iteration = { loop: run, index, item: items[index] };
        run.active.set(index, build(node.id, childPath(path, index), { parent: frame, iteration }));
      }
      frame.loops.add(run);
    }
    return frame;
  };
  return build(null, "", null);
}
