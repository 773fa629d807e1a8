import type { PlanScope } from "#server/workflow/compile.ts";
import { hasEnded, isLive, type NodeProgress } from "#server/workflow/node-progress.ts";

// Which nodes may start, decided only from the graph and what has happened so far. Pure: the same results always give
// the same answer, in whatever order they came in. Each edge is looked at once, so the cost grows with the graph alone.

/**
 * The state of one scope: counts down each node's open edges as results come in. A join waits for every path; it runs when
 * one of them is live, and is skipped when none is (contract, section 4).
 */
export class Schedule {
  readonly #scope: PlanScope;
  readonly #open = new Map<string, number>();
  readonly #live = new Set<string>();
  readonly #started = new Set<string>();
  #ready: string[] = [];
  #skipped: string[] = [];
  #left: number;

  /**
   * @param outer how nodes of outer scopes ended; all that lead in have, before a body starts
   * @param progress what had happened when a run is taken up again
   */
  constructor(
    scope: PlanScope,
    outer: (id: string) => NodeProgress | undefined = () => undefined,
    progress = new Map<string, NodeProgress>(),
  ) {
    this.#scope = scope;
    this.#left = scope.nodeIds.length;
    for (const id of progress.keys()) this.#started.add(id);
    for (const id of scope.nodeIds) {
      let open = 0;
      for (const edge of scope.incoming.get(id) ?? []) {
        if (scope.index.has(edge.source)) open++;
        else if (!edge.isGate && (edge.source === scope.loop || isLive(edge, outer(edge.source) ?? { status: "skipped" })))
          this.#live.add(id);
      }
      this.#open.set(id, open);
    }
    for (const [id, node] of progress) if (hasEnded(node)) this.#countDown(id, node, false);
    for (const id of scope.nodeIds) if (this.#open.get(id) === 0) this.#decide(id);
  }

  /** True when every node has ended or been skipped. */
  get isDone(): boolean {
    return this.#left === 0;
  }

  /** True when something may start, or has been skipped, that nobody has taken yet. */
  get hasNews(): boolean {
    return this.#ready.length > 0 || this.#skipped.length > 0;
  }

  /** Nodes to start now, in graph order; they count as started. */
  takeReady(): string[] {
    return this.#taken(this.#ready, () => (this.#ready = []));
  }

  /** Nodes that no live path reaches any more; they count as ended. */
  takeSkipped(): string[] {
    return this.#taken(this.#skipped, () => (this.#skipped = []));
  }

  /** A node has ended. */
  end(id: string, progress: NodeProgress): void {
    this.#countDown(id, progress, true);
  }

  #taken(ids: string[], clear: () => void): string[] {
    clear();
    const position = (id: string) => this.#scope.index.get(id) ?? 0;
    return ids.length > 1 ? ids.sort((a, b) => position(a) - position(b)) : ids;
  }

  /** Skips cascade: this goes on through everything that a skip decides. */
  #countDown(id: string, progress: NodeProgress, decides: boolean): void {
    const ended: [string, NodeProgress][] = [[id, progress]];
    for (const [source, result] of ended) {
      this.#left--;
      for (const edge of this.#scope.outgoing.get(source) ?? []) {
        const open = (this.#open.get(edge.target) ?? 0) - 1;
        this.#open.set(edge.target, open);
        if (!edge.isGate && isLive(edge, result)) this.#live.add(edge.target);
        if (open === 0 && decides && this.#decideOne(edge.target) === "skipped") ended.push([edge.target, { status: "skipped" }]);
      }
    }
  }

  #decide(id: string): void {
    if (this.#decideOne(id) === "skipped") this.#countDown(id, { status: "skipped" }, true);
  }

  #decideOne(id: string): "ready" | "skipped" | "known" {
    if (this.#started.has(id)) return "known";
    this.#started.add(id);
    const runs = this.#scope.roots.has(id) || this.#live.has(id);
    (runs ? this.#ready : this.#skipped).push(id);
    return runs ? "ready" : "skipped";
  }
}
