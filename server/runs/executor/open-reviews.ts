import { v7 as uuid } from "uuid";
import type { Frame } from "#server/runs/executor/frame.ts";
import type { EngineServices, LedgerRow, LedgerWrite, ReviewState, RunState } from "#server/runs/executor/ports.ts";
import type { RunBatch } from "#server/runs/executor/run-batch.ts";
import type { ReviewRequest } from "#server/workflow/define-node.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { beginningOf } from "#server/workflow/output-size.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

const HOUR_MS = 3_600_000;
const keyOf = ({ node_id, iteration }: { node_id: string; iteration: string }) => `${iteration} ${node_id}`;

interface OpenReview {
  frame: Frame;
  row: LedgerRow;
  due_at: Date | null;
  /** What viewers are told of it; unknown of most that an earlier segment has asked. */
  told?: Told;
}

interface Told {
  title: string;
  display_value: string;
  truncated?: true;
}

/** Of one that was not read again: its words are where those of a cut one are. */
const UNREAD: Told = { title: "", display_value: "", truncated: true };

function toldOf(title: string, display_value: string): Told {
  const told = { title: beginningOf(title), display_value: beginningOf(display_value) };
  return told.title === title && told.display_value === display_value ? told : { ...told, truncated: true };
}

/** A review that has been decided, and what its node leaves behind. */
export interface DecidedReview extends OpenReview {
  output: string;
  handle: string;
}

/** The reviews that a segment waits for. The table `reviews` is the truth; this knows which node each one holds up. */
export class OpenReviews {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #batch: RunBatch;
  readonly #open = new Map<string, OpenReview>();
  /** True when the last that viewers were told is that the run goes on. */
  #isResumed = false;

  constructor(services: EngineServices, run: RunState, batch: RunBatch) {
    this.#services = services;
    this.#run = run;
    this.#batch = batch;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes up a node that an earlier segment left waiting. */
  restore(frame: Frame, row: LedgerRow): void {
    this.#open.set(keyOf(row), { frame, row, due_at: null });
  }

  /** Begins a review at a node that has just been reached. */
  ask(frame: Frame, node: GraphNode, row: LedgerWrite, request: ReviewRequest): void {
    const { node_id, iteration } = row;
    const { description, display_value, notification_email, timeout_hours } = request;
    const due_at = timeout_hours > 0 ? new Date(this.#services.clock.now().getTime() + timeout_hours * HOUR_MS) : null;
    const waiting: LedgerWrite = { ...row, status: "waiting" };
    frame.rows.set(node_id, waiting);
    const label = labelOf(node);
    const title = request.title || label;
    const told = toldOf(title, display_value);
    this.#open.set(keyOf(row), { frame, row: waiting, due_at, told });
    this.#batch.keep(waiting);
    this.#batch.ask({ id: uuid(), node_id, iteration, label, title, description, display_value, notification_email, due_at });
    this.#tell(waiting, told);
  }

  /**
   * The run waits for people only: it is paused, and viewers who were told that it goes on are told so again. Of one review:
   * each was told when it was asked, and all of them after every decision would be too much where many wait.
   */
  pause(): void {
    this.#batch.mark("paused");
    const all = [...this.#open.values()];
    const open = all.find(({ told }) => told) ?? all[0];
    if (this.#isResumed && open) this.#tell(open.row, open.told ?? UNREAD);
  }

  #tell({ node_id, iteration }: LedgerRow, told: Told): void {
    this.#isResumed = false;
    this.#batch.tell({ type: "execution_paused", node_id, ...(iteration && { iteration }), ...told });
  }

  /** Nobody needs to decide this one any more. */
  withdraw(row: LedgerRow): void {
    if (this.#open.delete(keyOf(row))) this.#batch.withdraw(row.node_id, row.iteration);
  }

  /** Takes what people, or the clock, have decided, once what has been asked is written. */
  async takeDecisions(): Promise<DecidedReview[]> {
    if (this.#open.size === 0) return [];
    await this.#batch.flush();
    const states = await this.#services.store.reviews(this.#run, this.#services.clock.now());
    return states.flatMap((review) => this.#take(review));
  }

  #take(review: ReviewState): DecidedReview[] {
    const open = this.#open.get(keyOf(review));
    if (review.status === "waiting") {
      const { due_at, title, display_value } = review;
      if (open) open.due_at = due_at;
      if (open && title !== null && display_value !== null) open.told = toldOf(title, display_value);
      return [];
    }
    this.#batch.take(review.id);
    if (!open) return [];
    this.#open.delete(keyOf(review));
    this.#batch.mark("running");
    this.#batch.tell({ type: "execution_resumed" });
    this.#isResumed = true;
    return [{ ...open, handle: review.status, output: review.comment ? `${review.status}: ${review.comment}` : review.status }];
  }

  /** When the first of them counts as rejected, if one has a deadline. */
  nearestDeadline(): Date | null {
    const times = [...this.#open.values()].flatMap(({ due_at }) => (due_at ? [due_at.getTime()] : []));
    return times.length ? new Date(Math.min(...times)) : null;
  }
}
