import type { NodeDefinition } from "#server/engine/define-node.ts";
import { definitionOf, goesOnAfterFailure } from "#server/engine/graph.ts";
import type { LedgerRow } from "#server/engine/ports.ts";
import type { Graph, GraphNode } from "#server/schemas/graph.ts";

/** What the run loop asks about the nodes of one graph. */
export class NodeFacts {
  readonly byId: ReadonlyMap<string, GraphNode>;
  readonly #graph: Graph;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.byId = new Map(graph.nodes.map((node) => [node.id, node]));
  }

  definition(id: string): NodeDefinition | undefined {
    return definitionOf(this.byId.get(id)?.type ?? "");
  }

  /** True for a node whose failure is passed on as its output. */
  continues(id: string): boolean {
    return goesOnAfterFailure(this.byId.get(id));
  }

  isOutput(id: string): boolean {
    return this.definition(id)?.group === "output";
  }

  /** True for a review that was rejected and has nothing attached to the rejection, wherever in the graph it would lead. */
  isRejection({ node_id, status, handle }: LedgerRow): boolean {
    if (status !== "complete" || handle === null || this.definition(node_id)?.rejects !== handle) return false;
    return !this.#graph.edges.some((edge) => edge.source === node_id && edge.sourceHandle === handle);
  }
}
