import { runPlan, workOf } from "#server/workflow/disabled.ts";
import { credentialOf, possibleReadings, referencesOf, slugOf } from "#server/workflow/expressions.ts";
import { isReadable, labelOf } from "#server/workflow/graph.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import { pinnedWork } from "#server/workflow/pins.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** What a run up to one node needs. Nodes inside loops come and go with the outermost loop around them. */
export interface NeededNodes {
  /** Ids of the nodes that take part, bodies of loops included. */
  needed: ReadonlySet<string>;
  /** Of those, pinned ones before which nothing is run: their outputs are there from the beginning. */
  given: readonly string[];
  /** Top-level nodes that do not take part. */
  left_out: readonly string[];
}

/**
 * What must run for `until` to run: everything before it, but nothing that only leads to pinned nodes. The trigger always
 * takes part.
 * @param graph with the pins that count (withPins)
 */
export function nodesUntil(graph: Graph, until: string): NeededNodes {
  const plan = runPlan(graph);
  const top = plan.scopes.get(null);
  if (!top) throw new Error("The plan has no top level.");
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const unitOf = (id: string): string => plan.loopsAround(id)[0] ?? id;
  const members = Map.groupBy(
    graph.nodes.map((node) => node.id),
    unitOf,
  );
  const names = new Map<string, string>();
  for (const node of graph.nodes) for (const name of [labelOf(node), slugOf(labelOf(node))]) if (!names.has(name)) names.set(name, node.id);
  const sources = (unit: string): string[] => (top.incoming.get(unit) ?? []).map((edge) => edge.source);
  const before = (unit: string): Set<string> => {
    const found = new Set<string>();
    const open = sources(unit);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (found.has(id)) continue;
      found.add(id);
      open.push(...sources(id));
    }
    return found;
  };
  /** Nodes that a unit reads by name, which may lie before a pinned one. */
  const reads = (unit: string): string[] => {
    const above = before(unit);
    return (members.get(unit) ?? []).flatMap((id) => {
      const node = byId.get(id);
      const definition = workOf(node);
      if (!node || !definition || pinnedWork(node)) return [];
      // A condition may read any node before it, and an agent's name may stand for any of its nodes.
      if (textsOf(definition, node.data, "python").some(({ text }) => text.includes("node_outputs"))) return [...above];
      const references = textsOf(definition, node.data, "template").flatMap(({ text }) => referencesOf(text));
      return references.flatMap((reference) => {
        const isNoNode = reference.head === "trigger" || reference.head === "execution" || credentialOf(reference) !== undefined;
        // Agents' names are not known here: what may be one, with dots in it, stands for any of its nodes.
        const units = possibleReadings(reference).flatMap(({ head, path }) => {
          const named = names.get(head) ?? names.get(slugOf(head));
          if (named !== undefined) return [unitOf(named)];
          const isAgent = head === reference.head ? !isNoNode : isReadable(String(path[0]));
          return isAgent ? [...above].filter((other) => byId.get(other)?.data.agent_id) : [];
        });
        return units.filter((unit) => above.has(unit));
      });
    });
  };

  // A pinned decision still passes on what came to it.
  const closed = new Set(
    top.nodeIds.filter((id) => {
      const work = pinnedWork(byId.get(id));
      return work && !work.passesContent;
    }),
  );
  const closure = (): Set<string> => {
    const found = new Set([unitOf(until)]);
    for (const unit of found) if (!closed.has(unit)) for (const other of [...sources(unit), ...reads(unit)]) found.add(other);
    return found;
  };
  let units = closure();
  // A pinned node waits for what runs before it, so that nothing after it starts too early; then all before it must run.
  for (;;) {
    const runs = (id: string) => units.has(id) && !closed.has(id) && !top.roots.has(id);
    const opened = [...closed].filter((id) => units.has(id) && [...before(id)].some(runs));
    if (opened.length === 0) break;
    for (const id of opened) closed.delete(id);
    units = closure();
  }
  for (const root of top.roots) units.add(root);
  return {
    needed: new Set([...units].flatMap((unit) => members.get(unit) ?? [])),
    given: [...units].filter((unit) => closed.has(unit)),
    left_out: [...new Set(top.nodeIds)].filter((id) => !units.has(id)),
  };
}

/**
 * Of a run that leaves these top-level nodes out: pinned ones before which nothing is run, so that nothing would come to them.
 * @param graph with the pins that count (withPins)
 */
export function givenWithout(graph: Graph, left_out: readonly string[]): string[] {
  const top = left_out.length ? runPlan(graph).scopes.get(null) : undefined;
  if (!top) return [];
  const out = new Set(left_out);
  const pinned = new Set(graph.nodes.flatMap((node) => (pinnedWork(node) ? [node.id] : [])));
  const known = new Map<string, boolean>();
  /** True when neither it nor anything before it is run. */
  const isIdle = (id: string): boolean => {
    const answer = known.get(id);
    if (answer !== undefined) return answer;
    known.set(id, true);
    const sources = (top.incoming.get(id) ?? []).map((edge) => edge.source);
    const result = (top.roots.has(id) || out.has(id) || pinned.has(id)) && sources.every(isIdle);
    known.set(id, result);
    return result;
  };
  return top.nodeIds.filter((id) => pinned.has(id) && !out.has(id) && isIdle(id));
}
