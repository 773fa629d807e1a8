import type { LoopRun } from "#server/runs/executor/loop-run.ts";
import type { LedgerRow } from "#server/runs/ports.ts";
import type { PlanScope } from "#server/workflow/compile.ts";
import { type NodeProgress, progressOf } from "#server/workflow/node-progress.ts";
import { Schedule } from "#server/workflow/scheduler.ts";

/** Place of an iteration in its loop. */
export interface Iteration {
  loop: LoopRun;
  index: number;
  item: unknown;
}

/** The path of an iteration inside a frame: "3" in the workflow itself, "3.0" inside its third. */
export const childPath = (path: string, index: number): string => (path === "" ? String(index) : `${path}.${index}`);

/** The path of the frame around an iteration, and the iteration's index in it. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf(".")));
export const indexOf = (path: string): number => Number(path.slice(path.lastIndexOf(".") + 1));

/**
 * One run of one scope: the workflow itself, or one iteration of a loop's body. Holds the newest row of each of its nodes,
 * and sees those of the frames around it.
 */
export class Frame {
  readonly scope: PlanScope;
  /** Loop indices that lead here; "" is the workflow itself. */
  readonly path: string;
  readonly parent: Frame | null;
  readonly iteration: Iteration | null;
  readonly rows: Map<string, LedgerRow>;
  readonly schedule: Schedule;
  /** Loops of this frame that are under way. */
  readonly loops = new Set<LoopRun>();
  /** True once a review was rejected with nothing attached to the rejection. */
  isRejected = false;
  /** True when what it does no longer counts. */
  isClosed = false;
  #own: AbortController | undefined;
  #signal: AbortSignal | undefined;

  /**
   * @param rows what had happened when a run is taken up again
   * @param continues whether a failed node lets what follows it run
   */
  constructor(
    scope: PlanScope,
    around: { parent: Frame; iteration: Iteration } | null,
    rows: Map<string, LedgerRow>,
    continues: (id: string) => boolean,
  ) {
    this.scope = scope;
    this.parent = around?.parent ?? null;
    this.iteration = around?.iteration ?? null;
    this.path = around ? childPath(around.parent.path, around.iteration.index) : "";
    this.rows = rows;
    const progress = new Map([...rows].map(([id, row]) => [id, progressOf(row, continues(id))]));
    this.schedule = new Schedule(scope, (id) => this.#outer(id, continues), progress);
  }

  /** The newest row of a node here or in a frame around. */
  lookup(id: string): LedgerRow | undefined {
    for (let frame: Frame | null = this; frame; frame = frame.parent) {
      const row = frame.rows.get(id);
      if (row) return row;
    }
    return undefined;
  }

  /** The iteration of the loop with this id that this frame is in, if it is in its body. */
  iterationOf(loopId: string): Iteration | undefined {
    for (let frame: Frame | null = this; frame; frame = frame.parent) if (frame.scope.loop === loopId) return frame.iteration ?? undefined;
    return undefined;
  }

  /** Fires when the segment stops, or when this iteration or one around it no longer counts. */
  signal(segment: AbortSignal): AbortSignal {
    if (!this.parent) return segment;
    this.#own ??= new AbortController();
    if (this.isClosed) this.#own.abort();
    this.#signal ??= AbortSignal.any([this.parent.signal(segment), this.#own.signal]);
    return this.#signal;
  }

  /** What it does no longer counts: calls under way are aborted. */
  close(): void {
    this.isClosed = true;
    this.#own?.abort();
  }

  #outer(id: string, continues: (id: string) => boolean): NodeProgress | undefined {
    // To its body a loop is there, though it has not ended.
    if (this.iterationOf(id)) return { status: "complete" };
    const row = this.parent?.lookup(id);
    return row && progressOf(row, continues(id));
  }
}
