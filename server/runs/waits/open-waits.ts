import { messageOf } from "#server/platform/errors.ts";
import { newId } from "#server/platform/new-id.ts";
import { tokenHash } from "#server/runs/callback-token.ts";
import type { Frame } from "#server/runs/executor/frame.ts";
import type { RunBatch } from "#server/runs/executor/run-batch.ts";
import type { EngineServices, LedgerRow, LedgerWrite, RunState, WaitState } from "#server/runs/ports.ts";
import type { CompiledGraph } from "#server/workflow/compiled-graph.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { NodeResult, WaitEnd, WaitRequest } from "#server/workflow/nodes/definition.ts";
import { beginningOf } from "#server/workflow/output-size.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

const keyOf = ({ node_id, iteration }: { node_id: string; iteration: string }) => `${iteration} ${node_id}`;

const placeOf = ({ node_id, iteration }: LedgerRow) => ({ node_id, ...(iteration && { iteration }) });

const asksPeople = (reason: WaitRequest["reason"] | undefined): boolean => reason === "review" || reason === "budget";

interface OpenWait {
  frame: Frame;
  row: LedgerRow;
  deadline: Date | null;
  /** Unknown of one that an earlier segment has opened, until the table is read. */
  reason?: WaitRequest["reason"];
  /** What viewers are told of it; unknown of most that an earlier segment has opened. */
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

/** A wait that has ended, and how its node has ended with it. */
interface EndedWait extends OpenWait {
  end: ({ status: "complete" } & NodeResult) | { status: "failed"; error: string } | "again";
}

/** Labels of waiting nodes that a summary has, and characters of each. */
const MAX_LABELS = 3;
const MAX_LABEL_LENGTH = 60;

/** What a segment waits for. The table `waits` is the truth; this knows which node each of its rows holds up. */
export class OpenWaits {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #graph: CompiledGraph;
  readonly #batch: RunBatch;
  readonly #open = new Map<string, OpenWait>();
  /** True when the last that viewers were told is that the run goes on. */
  #isResumed = false;

  constructor(services: EngineServices, run: RunState, graph: CompiledGraph, batch: RunBatch) {
    this.#services = services;
    this.#run = run;
    this.#graph = graph;
    this.#batch = batch;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes up a node that an earlier segment left waiting. */
  restore(frame: Frame, row: LedgerRow): void {
    this.#open.set(keyOf(row), { frame, row, deadline: null });
  }

  /** Begins to wait at a node that has just been reached. */
  open(frame: Frame, node: GraphNode, row: LedgerWrite, request: WaitRequest): void {
    const { node_id, iteration } = row;
    const { reason, deadline } = request;
    // For a budget an attempt may wait again and again.
    const id = reason === "budget" ? newId() : row.id;
    const label = labelOf(node);
    const written: LedgerWrite = { ...row, status: "waiting", ...(reason === "child" && { details: { child_execution_id: id } }) };
    const waiting = { ...written, input: null };
    frame.rows.set(node_id, waiting);
    const review = request.reason === "review" || request.reason === "budget" ? { ...request, title: request.title || label } : undefined;
    const told = toldOf(review?.title ?? label, review?.display_value ?? "");
    this.#open.set(keyOf(row), { frame, row: waiting, deadline, reason, told });
    this.#batch.keep(written);
    const token_hash = request.reason === "callback" ? tokenHash(request.token) : undefined;
    const wanted = request.reason === "child" || request.reason === "budget" ? request.request : undefined;
    this.#batch.open({
      ...review,
      ...(token_hash && { token_hash }),
      ...(wanted && { request: wanted }),
      id,
      node_id,
      iteration,
      reason,
      label,
      deadline,
    });
    if (review) this.#tell(waiting, told);
    else {
      const child = reason === "child" && { child_execution_id: id };
      this.#batch.tell({ type: "node_waiting", ...placeOf(waiting), deadline: deadline?.toISOString() ?? null, ...child });
    }
  }

  /**
   * The run does nothing but wait: for people it is paused, and viewers who were told that it goes on are told so again. Of one wait: each
   * was told when it began, and all of them after every end would be too much where many wait.
   */
  pause(): void {
    const all = [...this.#open.values()].filter(({ reason }) => asksPeople(reason));
    if (all.length === 0) return;
    this.#batch.mark("paused");
    const open = all.find(({ told }) => told) ?? all[0];
    if (this.#isResumed && open) this.#tell(open.row, open.told ?? UNREAD);
  }

  #tell(row: LedgerRow, told: Told): void {
    this.#isResumed = false;
    this.#batch.tell({ type: "execution_paused", ...placeOf(row), ...told });
  }

  /** Nobody needs this one any more. */
  withdraw(row: LedgerRow): void {
    if (this.#open.delete(keyOf(row))) this.#batch.withdraw(row.node_id, row.iteration);
  }

  /** Takes the waits that have ended, once those that have begun are written. */
  async takeEnded(): Promise<EndedWait[]> {
    if (this.#open.size === 0) return [];
    await this.#batch.flush();
    const states = await this.#services.store.waits(this.#run, this.#services.clock.now());
    return states.flatMap((wait) => this.#take(wait));
  }

  #take(wait: WaitState): EndedWait[] {
    const open = this.#open.get(keyOf(wait));
    const { status, outcome, reason, deadline, title, display_value, text } = wait;
    if (status === "waiting") {
      if (open) Object.assign(open, { deadline, reason });
      if (open && title !== null && display_value !== null) open.told = toldOf(title, display_value);
      return [];
    }
    this.#batch.take(wait.id);
    if (!open) return [];
    this.#open.delete(keyOf(wait));
    this.#batch.mark("running");
    if (asksPeople(reason)) {
      this.#batch.tell({ type: "execution_resumed" });
      this.#isResumed = true;
    }
    return [{ ...open, end: this.#endOf(open.row, { ...(status === "resolved" ? { status, outcome } : { status }), text }) }];
  }

  /** What the end of a wait means for its node, as the node's type says. */
  #endOf({ node_id }: LedgerRow, end: WaitEnd): EndedWait["end"] {
    const definition = this.#graph.definition(node_id);
    const config = definition?.config.parse(this.#graph.byId.get(node_id)?.data ?? {}) ?? {};
    try {
      const result = definition?.resume?.(end, config) ?? { output: "" };
      return "again" in result ? "again" : { status: "complete", ...result };
    } catch (error) {
      return { status: "failed", error: messageOf(error) };
    }
  }

  /** Summarises the open waits: the nearest deadline if one has a deadline, whether all are for a time, and the first labels. */
  summary(): { run_at: Date | null; is_time: boolean; labels: string[] } {
    const open = [...this.#open.values()];
    const times = open.flatMap(({ deadline }) => (deadline ? [deadline.getTime()] : []));
    const nodes = open.slice(0, MAX_LABELS).flatMap(({ row }) => this.#graph.byId.get(row.node_id) ?? []);
    return {
      run_at: times.length ? new Date(Math.min(...times)) : null,
      is_time: open.every(({ reason }) => reason === "time"),
      labels: nodes.map((node) => labelOf(node).slice(0, MAX_LABEL_LENGTH)),
    };
  }
}
