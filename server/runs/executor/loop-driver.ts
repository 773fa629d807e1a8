import { TimeSlice } from "#server/platform/time-slice.ts";
import { type BodyOutputs, comparePaths } from "#server/runs/executor/ending.ts";
import { Frame, indexOf } from "#server/runs/executor/frame.ts";
import type { Ledger } from "#server/runs/executor/ledger.ts";
import { type ItemEnd, LoopRun } from "#server/runs/executor/loop-run.ts";
import type { ItemRow, LedgerRow, LedgerWrite, RunState, RunStore } from "#server/runs/ports.ts";
import { objectText } from "#server/shared/json-text.ts";
import type { Plan } from "#server/workflow/compile.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { outputOf } from "#server/workflow/expression-scope.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { LoopSettings, NodeResult } from "#server/workflow/nodes/definition.ts";
import { MAX_OUTPUT, MAX_RESULT, shortError, tooLarge, tooMuch } from "#server/workflow/output-size.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

function itemEnd({ status, output, error }: ItemRow): ItemEnd {
  if (status === "complete") return { status, output: output ?? "" };
  return status === "failed" ? { status, error: error ?? "" } : { status: "skipped" };
}

/** Characters of a loop's results from which they are put together in slices of time. */
const LONG = 256 * 1024;

/** True for a loop whose result is long, and not longer than it may be. */
const isLong = ({ size }: LoopRun): boolean => size > LONG && size <= MAX_OUTPUT;

interface LoopParts {
  run: RunState;
  plan: Plan;
  nodes: ReadonlyMap<string, GraphNode>;
  ledger: Ledger;
  store: Pick<RunStore, "items" | "bodyOutputs">;
}

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
  readonly #run: RunState;
  readonly #store: Pick<RunStore, "items" | "bodyOutputs">;
  readonly #plan: Plan;
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  readonly #ledger: Ledger;
  readonly #host: LoopHost;
  readonly #outputs = new Map<string, { path: string; value: string }[]>();
  #keptLength: number;
  readonly #filling = new Set<LoopRun>();
  /** Loops that would close, but for the results of earlier segments, or for a result that is put together in slices of time. */
  readonly #unread = new Set<LoopRun>();

  constructor({ run, plan, nodes, ledger, store }: LoopParts, host: LoopHost) {
    this.#run = run;
    this.#plan = plan;
    this.#nodes = nodes;
    this.#ledger = ledger;
    this.#store = store;
    this.#host = host;
    this.#keptLength = run.kept;
  }

  /** True when Output nodes inside loops may have put something out in an earlier segment. */
  get hasPast(): boolean {
    const { graph, items, ledger } = this.#run;
    return compileGraph(graph).bodyOutputs.length > 0 && (items.length > 0 || ledger.some((row) => row.iteration !== ""));
  }

  /** Values of Output nodes inside loops, by node id. What earlier segments have written is read only now. */
  async outputs(): Promise<BodyOutputs> {
    if (!this.hasPast) return this.#outputs;
    const rows = await this.#store.bodyOutputs(this.#run, compileGraph(this.#run.graph).bodyOutputs);
    const values = rows.map(({ node_id, iteration, output }) => ({ node_id, path: iteration, value: output ?? "" }));
    return Map.groupBy(values, (row) => row.node_id);
  }

  /** Returns the decision of the first item whose review ended the run as rejected. Its iteration must have been written. */
  async rejection(): Promise<string | undefined> {
    const graph = compileGraph(this.#run.graph);
    const handles = [...new Set(graph.bodyRejections.flatMap((id) => graph.rejections(id)))];
    const rows = handles.length ? await this.#store.bodyOutputs(this.#run, graph.bodyRejections, handles) : [];
    const rejected = rows.filter((row) => graph.isRejection({ ...row, status: "complete" }));
    return rejected.sort((a, b) => comparePaths(a.iteration, b.iteration))[0]?.output ?? undefined;
  }

  /** Characters of them, of this segment and those before it. */
  get keptLength(): number {
    return this.#keptLength;
  }

  /**
   * Takes note of an Output node reached inside a loop.
   * @returns why the run ends here: with more than its result may have, the rest would be paid for in vain
   */
  keepOutput({ node_id, iteration, status, output }: LedgerRow): string | undefined {
    if (status !== "complete") return undefined;
    const values = this.#outputs.get(node_id) ?? [];
    this.#outputs.set(node_id, values);
    values.push({ path: iteration, value: output ?? "" });
    this.#keptLength += output?.length ?? 0;
    return this.#keptLength > MAX_RESULT ? tooMuch(this.#keptLength, MAX_RESULT) : undefined;
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
    if (!loop.isOver || loop.frame.isClosed) return;
    if ((loop.isUnread || isLong(loop)) && !loop.isStopped) {
      this.#unread.add(loop);
      return;
    }
    if (!loop.frame.loops.delete(loop)) return;
    if (loop.isStopped) {
      loop.frame.isRejected = true;
      this.#host.ended(loop, { status: "skipped" });
    } else if (loop.size > MAX_OUTPUT) this.#host.ended(loop, { status: "failed", error: tooLarge(loop.size) });
    else this.#host.ended(loop, { status: "complete", output: loop.output() });
  }

  /** True when `close` has something to do. */
  get hasUnread(): boolean {
    return this.#unread.size > 0;
  }

  /** Closes the loops whose last item has ended: with the results of earlier segments, and those with a long result. */
  async close(): Promise<void> {
    for (const loop of [...this.#unread]) {
      const rows = loop.isUnread ? await this.#store.items(this.#run, { node_id: loop.row.node_id, path: loop.frame.path }) : [];
      this.#unread.delete(loop);
      if (!Array.isArray(rows)) {
        loop.frame.loops.delete(loop);
        this.#host.ended(loop, { status: "failed", error: tooLarge(rows.bytes) });
        continue;
      }
      if (loop.isUnread) loop.read(rows.map((row) => [indexOf(row.iteration), itemEnd(row)]));
      if (isLong(loop)) await this.#closeLong(loop);
      else this.fill(loop);
    }
  }

  async #closeLong(loop: LoopRun): Promise<void> {
    const slice = new TimeSlice();
    let output = "";
    for (const piece of loop.outputPieces()) {
      output += piece;
      if (slice.isUp) await slice.next();
    }
    if (!loop.frame.isClosed && loop.frame.loops.delete(loop)) this.#host.ended(loop, { status: "complete", output });
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
    // As it is kept, so that the loop makes the same of it after a restart.
    const error = shortError(`${node ? labelOf(node) : row.node_id}: ${row.error ?? ""}`);
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
