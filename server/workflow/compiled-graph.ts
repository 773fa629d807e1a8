import type { Plan, PlanEdge } from "#server/workflow/compile.ts";
import { runPlan, workOf } from "#server/workflow/disabled.ts";
import { credentialOf, referencesOf } from "#server/workflow/expressions.ts";
import { goesOnAfterFailure, passesContent } from "#server/workflow/graph.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import type { NodeDefinition } from "#server/workflow/nodes/definition.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

/** Names of the credentials that a graph reads, by expressions or otherwise. */
export function credentialsIn(graph: Graph): Set<string> {
  const names = graph.nodes.flatMap((node) => {
    const texts = textsOf(workOf(node), node.data, "template").map(({ text }) => text);
    const work = workOf(node);
    const config = work?.credentials && work.config.safeParse(node.data);
    const meant = (config?.success && work?.credentials?.(config.data)) || [];
    // Nearly no text names one; those need not be taken apart.
    const read = texts.filter((text) => /credentials/i.test(text)).flatMap((text) => referencesOf(text).map(credentialOf));
    return [...meant, ...read];
  });
  return new Set(names.filter((name) => name !== undefined));
}

/** True when a graph may read credentials; unlike `credentialsIn` it reads no expressions. */
export const mayReadCredentials = (graph: Graph): boolean =>
  graph.nodes.some((node) => {
    const work = workOf(node);
    const config = work?.credentials && work.config.safeParse(node.data);
    const names = config?.success ? work?.credentials?.(config.data) : undefined;
    return names?.length || textsOf(work, node.data, "template").some(({ text }) => /credentials/i.test(text));
  });

/** A graph made ready to run: its plan, and what the executor and the store ask about its nodes. */
class CompiledGraph {
  readonly byId: ReadonlyMap<string, GraphNode>;
  readonly plan: Plan;
  /** Edges into each node as the plan has them. */
  readonly incoming: ReadonlyMap<string, readonly PlanEdge[]>;
  /** Ids of nodes that do work outside this process. */
  readonly effects: ReadonlySet<string>;
  /** The loop that each node inside a loop belongs to, by node id. */
  readonly owners: Readonly<Record<string, string>>;
  /** Ids of Output nodes inside loops. */
  readonly bodyOutputs: readonly string[];
  /** Reviews inside loops whose rejection ends the run. */
  readonly bodyRejections: readonly string[];
  /** True when one of its nodes has to wait; those that seldom do are not meant. */
  readonly hasWaits: boolean;
  /** True when one of its nodes starts runs of other workflows. */
  readonly startsRuns: boolean;
  /** Names of the credentials that it reads. */
  readonly credentials: ReadonlySet<string>;
  readonly #graph: Graph;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.byId = new Map(graph.nodes.map((node) => [node.id, node]));
    this.plan = runPlan(graph);
    this.incoming = this.plan.incoming;
    const ids = [...this.byId.keys()];
    this.effects = new Set(ids.filter((id) => this.definition(id)?.isEffect));
    const owned = ids.map((id) => [id, this.plan.ownerOf(id)] as const);
    this.owners = Object.fromEntries(owned.flatMap(([id, owner]) => (owner === null ? [] : [[id, owner] as const])));
    this.bodyOutputs = ids.filter((id) => Object.hasOwn(this.owners, id) && this.isOutput(id));
    this.bodyRejections = ids.filter((id) => Object.hasOwn(this.owners, id) && this.rejections(id).length > 0);
    this.credentials = credentialsIn(graph);
    this.startsRuns = ids.some((id) => this.definition(id)?.startsRuns);
    this.hasWaits = ids.some((id) => {
      const { resume, waitsSeldom } = this.definition(id) ?? {};
      return resume !== undefined && !waitsSeldom;
    });
  }

  definition(id: string): NodeDefinition | undefined {
    return workOf(this.byId.get(id));
  }

  /** True for a node whose failure is passed on as its output. */
  continues(id: string): boolean {
    return goesOnAfterFailure(this.byId.get(id));
  }

  /** True for a node that only decides, or has this time: what came to it goes on to what follows. */
  passesContent(id: string, handle: string | null): boolean {
    const node = this.byId.get(id);
    return node !== undefined && passesContent(node, this.definition(id), handle);
  }

  isOutput(id: string): boolean {
    return this.definition(id)?.group === "output";
  }

  /** Handles of a review that are rejections with nothing attached, wherever in the graph they would lead. */
  rejections(id: string): string[] {
    const rejecting = this.definition(id)?.rejects?.(this.byId.get(id)?.data ?? {}) ?? [];
    return rejecting.filter((handle) => !this.#graph.edges.some((edge) => edge.source === id && edge.sourceHandle === handle));
  }

  /** True for a review that was rejected and has nothing attached to the rejection. */
  isRejection({ node_id, status, handle }: { node_id: string; status: string; handle: string | null }): boolean {
    return status === "complete" && handle !== null && this.rejections(node_id).includes(handle);
  }
}

export type { CompiledGraph };

const known = new WeakMap<Graph, CompiledGraph>();

/** The facts of a graph, found out once. The graph must not change any more. */
export function compileGraph(graph: Graph): CompiledGraph {
  const facts = known.get(graph) ?? new CompiledGraph(graph);
  known.set(graph, facts);
  return facts;
}
