import type { LoopSettings, NodeResult } from "#server/engine/define-node.ts";
import { Frame } from "#server/engine/frame.ts";
import { labelOf } from "#server/engine/graph.ts";
import { objectText } from "#server/engine/json-text.ts";
import type { Ledger } from "#server/engine/ledger.ts";
import { type ItemEnd, LoopRun } from "#server/engine/loop-run.ts";
import { MAX_OUTPUT, tooLarge } from "#server/engine/output-size.ts";
import type { Plan } from "#server/engine/plan.ts";
import type { LedgerRow, LedgerWrite } from "#server/engine/ports.ts";
import { outputOf } from "#server/engine/run-scope.ts";
import type { GraphNode } from "#server/schemas/graph.ts";

/** What the segment does for its loops. */
interface LoopHost {
  continues(id: string): boolean;
  /** A frame has begun. */
  opened(frame: Frame): void;
  /** A loop has ended; its row is to be closed so. */
  ended(loop: LoopRun, end: { status: "complete" | "failed" | "skipped"; error?: string } & Partial<NodeResult>): void;
  /** What a frame does no longer counts. */
  closed(frame: Frame): void;
}

/** Starts the iterations of loops and gathers their results. */
export class LoopDriver {
  readonly #plan: Plan;
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  readonly #ledger: Ledger;
  readonly #host: LoopHost;
  readonly #outputs = new Map<string, { path: string; value: string }[]>();
  readonly #filling = new Set<LoopRun>();

  constructor(plan: Plan, nodes: ReadonlyMap<string, GraphNode>, ledger: Ledger, host: LoopHost) {
    this.#plan = plan;
    this.#nodes = nodes;
    this.#ledger = ledger;
    this.#host = host;
  }

  /** Values of Output nodes inside loops, by node id. */
  get outputs(): ReadonlyMap<string, readonly { path: string; value: string }[]> {
    return this.#outputs;
  }

  /** Takes note of an Output node reached inside a loop. */
  keepOutput({ node_id, iteration, status, output }: LedgerRow): void {
    if (status !== "complete") return;
    const values = this.#outputs.get(node_id) ?? [];
    this.#outputs.set(node_id, values);
    values.push({ path: iteration, value: output ?? "" });
  }

  /** Begins a loop over `items`. */
  open(frame: Frame, row: LedgerWrite, items: unknown[], settings: LoopSettings = { concurrency: 1, continues: false }): void {
    const loop = new LoopRun(row, frame, items, settings);
    frame.loops.add(loop);
    this.#ledger.progress(loop);
    this.fill(loop);
  }

  /** Starts as many items as may run at a time; closes the loop when there is nothing left. */
  fill(loop: LoopRun): void {
    // An iteration may end while it begins: then this very call goes on with the next one.
    if (this.#filling.has(loop) || !loop.frame.loops.has(loop)) return;
    this.#filling.add(loop);
    const scope = this.#plan.scopes.get(loop.row.node_id);
    if (!scope) throw new Error(`The plan has no body for "${loop.row.node_id}".`);
    for (let index = loop.take(); index !== undefined; index = loop.take()) {
      const iteration = { loop, index, item: loop.items[index] };
      const frame = new Frame(scope, { parent: loop.frame, iteration }, new Map(), (id) => this.#host.continues(id));
      loop.active.set(index, frame);
      this.#host.opened(frame);
    }
    this.#filling.delete(loop);
    if (!loop.isOver || loop.frame.isClosed || !loop.frame.loops.delete(loop)) return;
    if (loop.isStopped) {
      loop.frame.isRejected = true;
      this.#host.ended(loop, { status: "skipped" });
    } else if (loop.size > MAX_OUTPUT) this.#host.ended(loop, { status: "failed", error: tooLarge(loop.size) });
    else this.#host.ended(loop, { status: "complete", output: loop.output() });
  }

  /** Everything in an iteration has ended. */
  frameDone(frame: Frame): void {
    if (frame.isClosed || !frame.iteration) return;
    this.#itemEnded(frame, frame.isRejected ? { status: "skipped" } : { status: "complete", output: this.#result(frame) });
  }

  /** A node of an iteration has failed. */
  frameFailed(frame: Frame, row: LedgerRow): void {
    if (frame.isClosed || !frame.iteration) return;
    const node = this.#nodes.get(row.node_id);
    const error = `${node ? labelOf(node) : row.node_id}: ${row.error ?? ""}`;
    const { loop, index } = frame.iteration;
    this.#host.closed(frame);
    this.#itemEnded(frame, { status: "failed", error });
    if (!loop.isFragile || !loop.frame.loops.delete(loop)) return;
    for (const other of [...loop.active.values()]) this.#host.closed(other);
    this.#host.ended(loop, { status: "failed", error: `Item ${index} failed. ${error}` });
  }

  #itemEnded(frame: Frame, end: ItemEnd): void {
    if (!frame.iteration) return;
    const { loop, index } = frame.iteration;
    frame.isClosed = true;
    loop.end(index, end);
    this.#ledger.item(loop, frame, index, end);
    this.#ledger.progress(loop);
    if (end.status !== "failed" || !loop.isFragile) this.fill(loop);
  }

  /** The output of the node that ends the body; of several that were reached, an object by label (contract, section 4). */
  #result(frame: Frame): string {
    const reached = frame.scope.ends.flatMap((id) => {
      const row = frame.rows.get(id);
      const node = this.#nodes.get(id);
      return row && node && row.status !== "skipped" ? [[labelOf(node), outputOf(row)] as const] : [];
    });
    const [only] = reached;
    return reached.length > 1 ? objectText(reached) : (only?.[1] ?? "");
  }
}
