import { conditionFault } from "#server/engine/conditions.ts";
import type { NodeScope } from "#server/engine/define-node.ts";
import { findProblems } from "#server/engine/problems.ts";
import type { Graph, Problem } from "#server/schemas/graph.ts";

/** For all conditions of a graph together, in milliseconds: one that is made for it could take a second. */
const CHECK_MS = 2000;

/**
 * What would stop a run, its Python conditions included. They are looked at one after the other, in a process of their own; what
 * is not known within two seconds is left for the run to tell.
 * @param scope as `graphScope` gave it
 */
export async function problemsOf(project_id: string, graph: Graph, scope: NodeScope): Promise<Problem[]> {
  const faults = new Map<string, string | undefined>();
  const unknown = new Set<string>();
  const look = () =>
    findProblems(graph, {
      ...scope,
      conditionFault(condition) {
        if (!faults.has(condition)) unknown.add(condition);
        return faults.get(condition);
      },
    });
  const problems = look();
  if (unknown.size === 0) return problems;
  const signal = AbortSignal.timeout(CHECK_MS);
  for (const condition of unknown) {
    if (signal.aborted) break;
    faults.set(condition, await conditionFault(condition, project_id, signal).catch(() => undefined));
  }
  return [...faults.values()].some((fault) => fault !== undefined) ? look() : problems;
}
