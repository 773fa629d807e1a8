import { newId } from "#server/platform/new-id.ts";
import { childPath, type Frame } from "#server/runs/executor/frame.ts";
import { errorText, type ItemEnd, type LoopRun } from "#server/runs/executor/loop-run.ts";
import type { RunBatch } from "#server/runs/executor/run-batch.ts";
import { type Clock, ITEM, type LedgerRow, type LedgerWrite, type RunState } from "#server/runs/ports.ts";
import type { NodeResult } from "#server/workflow/nodes/definition.ts";
import { outputUrl, toldOutput } from "#server/workflow/output-size.ts";

const keyOf = (node_id: string, iteration: string) => `${iteration} ${node_id}`;
const where = (row: LedgerRow) => ({ node_id: row.node_id, ...(row.iteration && { iteration: row.iteration }) });

/** Makes the rows of a run and tells viewers of them; everything goes out through the batch. */
export class Ledger {
  readonly #run: RunState;
  readonly #clock: Clock;
  readonly #batch: RunBatch;
  readonly #attempts = new Map<string, number>();

  constructor(run: RunState, clock: Clock, batch: RunBatch) {
    this.#run = run;
    this.#clock = clock;
    this.#batch = batch;
    for (const { node_id, iteration, attempt } of run.ledger) {
      const key = keyOf(node_id, iteration);
      this.#attempts.set(key, Math.max(attempt, this.#attempts.get(key) ?? 0));
    }
  }

  /** A new attempt of a node, running from now; not kept yet. */
  begin(frame: Frame, node_id: string): LedgerWrite {
    return this.#row(node_id, frame.path, { status: "running" });
  }

  #row(node_id: string, iteration: string, fields: Partial<LedgerWrite>): LedgerWrite {
    const key = keyOf(node_id, iteration);
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    const empty = { handle: null, output: null, error: null, input: null, items: null, model: null, tool_calls: null };
    const common = { id: newId(), node_id, iteration, attempt, input_tokens: 0, output_tokens: 0, completed_at: null, duration_ms: null };
    return { ...common, ...empty, status: "running", started_at: this.#clock.now(), ...fields };
  }

  /** Ends an attempt and tells so. */
  end(row: LedgerRow, end: { status: "complete" | "failed"; error?: string } & Partial<NodeResult>): LedgerWrite {
    const done = this.#closed(row, { ...end, handle: end.handle ?? null });
    const common = { ...where(row), duration_ms: done.duration_ms ?? 0 };
    const { input_tokens, output_tokens } = done;
    const told = toldOutput(done.output ?? "", outputUrl(this.#run.id, row.node_id, row.iteration));
    this.#batch.tell(
      end.status === "complete"
        ? {
            type: "node_complete",
            ...common,
            ...told,
            ...(done.is_cut_off && { answer_truncated: true }),
            input_tokens,
            output_tokens,
            ...(done.cost !== undefined && { cost: done.cost }),
          }
        : { type: "node_failed", ...common, error: end.error ?? "" },
    );
    return done;
  }

  /**
   * The row with which a node waits: its own, or where that has made calls, which are counted with it, another attempt that goes on
   * from there.
   */
  waiting(frame: Frame, row: LedgerWrite): LedgerWrite {
    if (row.agent_id === undefined) return row;
    const error = "Interrupted before its next call of the model, for which it waits. It goes on from there as another attempt.";
    this.#closed(row, { status: "failed", is_interrupted: true, error });
    return { ...this.begin(frame, row.node_id), input: row.input };
  }

  /** Closes the attempt of a process that died; its node is started again. */
  interrupt(row: LedgerRow): void {
    const error = `Interrupted: the process stopped during attempt ${row.attempt}. The node is started again.`;
    this.#closed(row, { status: "failed", is_interrupted: true, error });
  }

  /** Ends a node whose process has died again and again. */
  giveUp(row: LedgerRow): LedgerWrite {
    const error = `Interrupted: the process stopped during attempt ${row.attempt}. It is not started again.`;
    return this.end(row, { status: "failed", error });
  }

  /** Marks a node that is not run, or whose attempt does not count any more. */
  skip(frame: Frame, node_id: string): LedgerWrite {
    const open = frame.rows.get(node_id);
    const row = open
      ? this.#closed(open, { status: "skipped" })
      : this.#row(node_id, frame.path, { status: "skipped", started_at: null, completed_at: this.#clock.now() });
    if (!open) this.#batch.keep(row);
    this.#batch.tell({ type: "node_skipped", ...where(row) });
    return row;
  }

  /** Keeps how one item of a loop ended, so that its iteration need not be looked at again. */
  item(loop: LoopRun, frame: Frame, index: number, end: ItemEnd): void {
    const { node_id } = loop.row;
    const output = end.status === "complete" ? end.output : end.status === "failed" ? errorText(end.error) : null;
    const error = end.status === "failed" ? end.error : null;
    const started_at = [...frame.rows.values()].find((row) => row.started_at)?.started_at ?? null;
    const row = this.#row(node_id, childPath(loop.frame.path, index), { status: end.status, handle: ITEM, output, error, started_at });
    this.#closed(row, {});
  }

  /** Tells how far a loop is. */
  progress({ row, items, complete, failed }: LoopRun): void {
    this.#batch.tell({ type: "loop_progress", ...where(row), total: items.length, complete, failed });
  }

  #closed(row: LedgerRow, end: Partial<LedgerWrite>): LedgerWrite {
    const completed_at = this.#clock.now();
    const duration_ms = row.started_at ? completed_at.getTime() - row.started_at.getTime() : null;
    return this.#batch.keep({ model: null, tool_calls: null, ...row, ...end, completed_at, duration_ms });
  }
}
