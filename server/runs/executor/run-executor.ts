import { follow } from "#server/platform/abort.ts";
import { Bell } from "#server/platform/bell.ts";
import { messageOf } from "#server/platform/errors.ts";
import { KeyedSemaphore } from "#server/platform/keyed-semaphore.ts";
import { shortWork, TimeSlice } from "#server/platform/time-slice.ts";
import { type Attempt, Attempts } from "#server/runs/executor/attempt.ts";
import { Calls } from "#server/runs/executor/calls.ts";
import { DeltaBuffer } from "#server/runs/executor/delta-buffer.ts";
import { endingEvent, endingOf, type RunStop, terminationOf } from "#server/runs/executor/ending.ts";
import type { Frame } from "#server/runs/executor/frame.ts";
import { Ledger } from "#server/runs/executor/ledger.ts";
import { LoopDriver } from "#server/runs/executor/loop-driver.ts";
import { restoreFrames } from "#server/runs/executor/restore.ts";
import { RunBatch } from "#server/runs/executor/run-batch.ts";
import type { RunSecrets } from "#server/runs/executor/run-secrets.ts";
import { charactersOf, RunSize } from "#server/runs/executor/run-size.ts";
import { type Ending, type EngineServices, HostFault, type LedgerRow, type LedgerWrite, type RunState } from "#server/runs/ports.ts";
import { OpenWaits } from "#server/runs/waits/open-waits.ts";
import { type CompiledGraph, compileGraph } from "#server/workflow/compiled-graph.ts";
import { progressOf } from "#server/workflow/node-progress.ts";
import type { NodeOutcome, NodeResult, NodeScope } from "#server/workflow/nodes/definition.ts";

/**
 * Result of one pass over a run. `waiting` names the nearest deadline; see `Outcome`. `deferred`: this process has no room in memory for the run,
 * and everything that has ended is written.
 */
export type ExecutorOutcome =
  | { kind: "finished"; ending: Ending }
  | { kind: "yielded" }
  | { kind: "deferred" }
  | { kind: "waiting"; run_at: Date | null; is_time: boolean; labels: string[] };

/** Characters of a run from which its end is written while no other such run of this process writes its own: the outputs are copied. */
const LARGE_ENDING = 4_000_000;
const largeEndings = new KeyedSemaphore(1, Number.POSITIVE_INFINITY, "");

/** Why calls under way are aborted at the end; made once, because an error is costly to make. */
const OVER = new Error("The run does not wait for this call any more.");

/**
 * Moves a run on, in this process and for one segment: as long as there is something to do, and time. Starts whatever is ready,
 * side by side, and writes each result before it counts. Results of pure nodes wait in a batch and go out with the next effect,
 * or when there is nothing to do but wait.
 */
export class RunExecutor {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #graph: CompiledGraph;
  readonly #ownAbort = new AbortController();
  readonly #signal = this.#ownAbort.signal;
  readonly #batch: RunBatch;
  readonly #ledger: Ledger;
  readonly #attempts: Attempts;
  readonly #deltas: DeltaBuffer;
  readonly #bell = new Bell();
  readonly #slice = new TimeSlice(shortWork);
  readonly #loops: LoopDriver;
  readonly #waits: OpenWaits;
  readonly #top: Frame;
  readonly #size: RunSize;
  /** Frames in which something may start or was skipped. */
  readonly #news = new Set<Frame>();
  readonly #calls = new Calls(() => this.#bell.ring());
  #stop: RunStop | undefined;
  #fault: HostFault | undefined;
  #mustLook = false;

  /** @param signal fires when the lease is lost, by a cancellation or to another process; lives no longer than the segment */
  constructor(services: EngineServices, run: RunState, names: NodeScope, secrets: RunSecrets, signal: AbortSignal) {
    this.#services = services;
    this.#run = run;
    this.#graph = compileGraph(run.graph);
    const { byId: nodes, plan } = this.#graph;
    follow(this.#ownAbort, signal);
    this.#signal.addEventListener("abort", () => this.#bell.ring());
    this.#batch = new RunBatch(services, run, signal, secrets.masker);
    this.#ledger = new Ledger(run, services.clock, this.#batch);
    this.#waits = new OpenWaits(services, run, this.#graph, this.#batch);
    this.#deltas = new DeltaBuffer((events) => services.store.deltas(run, events), services.clock, secrets.masker);
    const continues = (id: string) => this.#graph.continues(id);
    this.#attempts = new Attempts({ services, run, names, secrets }, this.#graph, {
      signal: (frame) => frame.signal(this.#signal),
      onDelta: (row, content) => this.#deltas.add(row, content),
      onRestart: (row) => this.#deltas.reset(row),
    });
    const parts = { run, plan, nodes, ledger: this.#ledger, store: services.store };
    this.#loops = new LoopDriver(parts, {
      continues,
      opened: (frame) => this.#touch(frame),
      ended: (loop, end) => this.#end(loop.frame, loop.row, end),
      closed: (frame) => this.#close(frame),
    });
    this.#top = restoreFrames({ ...parts, continues, recall: (frame, row) => this.#recall(frame, row) });
    this.#size = new RunSize(run, this.#top, () => this.#loops.keptLength);
  }

  /** Looks for waits that have ended at the next opportunity: somebody has changed something about this run. */
  look(): void {
    this.#mustLook = true;
    this.#bell.ring();
  }

  /**
   * Runs until nothing is left to do here, or until `until`, after which nothing new is started.
   * @throws LeaseLost when somebody else took over; whatever the store throws when the database is away
   */
  async execute(until: Date): Promise<ExecutorOutcome> {
    try {
      this.#takeUp(this.#top);
      this.#mustLook ||= this.#waits.size > 0;
      for (let round = 1; ; round++) {
        await this.#yield();
        this.#signal.throwIfAborted();
        if (this.#fault) {
          // The step is tried again; what calls under way bring is kept.
          await this.#calls.settled();
          await this.#batch.flush();
          throw this.#fault;
        }
        if (this.#size.isOver) {
          await this.#batch.flush();
          if (this.#calls.size === 0) return { kind: "deferred" };
          await this.#bell.rung();
          continue;
        }
        if (this.#mustLook) await this.#takeEnded();
        if (this.#loops.hasUnread) await this.#loops.close();
        if (this.#stop || this.#top.schedule.isDone) return await this.#finish();
        const isLate = this.#isLate(until, round);
        if (!isLate && (await this.#startReady())) {
          await this.#proveProgress();
          continue;
        }
        if (this.#calls.size === 0 && this.#waits.size && !this.#news.size) this.#waits.pause();
        await this.#batch.flush();
        if (this.#mustLook || this.#hasMore(isLate)) continue;
        if (this.#calls.size) await this.#bell.rung();
        else if (isLate && this.#news.size) return { kind: "yielded" };
        else if (this.#waits.size) return { kind: "waiting", ...this.#waits.summary() };
        // No graph that was checked comes here; going round would be worse than saying so.
        else this.#stop = { node_id: "", error: "Nothing of this run can go on: its nodes wait for each other." };
      }
    } catch (error) {
      for (const row of this.#calls.open) row.output ??= this.#deltas.soFar(row);
      // What calls have brought is kept also when the process must stop now.
      await (this.#services.halt?.aborted ? this.#batch.flush().catch(() => undefined) : this.#batch.countLost(this.#calls.open, error));
      throw error;
    } finally {
      this.#ownAbort.abort(OVER);
      this.#deltas.stop();
    }
  }

  /**
   * Of a run under which a process has died, the first results are written at once and not with those that follow: else a run that
   * goes on well, and only was under way each time, would be taken for one that the process died of.
   */
  async #proveProgress(): Promise<void> {
    if (this.#run.crashes === 0 || this.#batch.isEmpty) return;
    await this.#batch.flush();
    this.#run.crashes = 0;
  }

  /** True when nothing new may be started. However short the time, a segment gets a first round, so that runs go on. */
  #isLate(until: Date, round: number): boolean {
    if (this.#services.drain?.aborted) return true;
    const isTimeUp = round > 1 && this.#services.clock.now() >= until;
    return !this.#calls.mustStay(isTimeUp) && isTimeUp;
  }

  /** True when a call that ended meanwhile has given something to do. */
  #hasMore(isLate: boolean): boolean {
    const hasEnded = this.#stop !== undefined || this.#fault !== undefined || this.#top.schedule.isDone || this.#loops.hasUnread;
    return hasEnded || !this.#batch.isEmpty || (!isLate && this.#news.size > 0);
  }

  /** Takes note of what a row of an earlier segment means for the run. */
  #recall(frame: Frame, row: LedgerRow): void {
    if (row.status === "waiting") this.#waits.restore(frame, row);
    this.#stop ??= terminationOf(this.#graph.byId.get(row.node_id), row);
    frame.isRejected ||= this.#graph.isRejection(row);
  }

  /** What the ledger of an earlier segment leaves to decide, the innermost frames first. */
  #takeUp(frame: Frame): void {
    for (const loop of [...frame.loops]) for (const inner of [...loop.active.values()]) this.#takeUp(inner);
    if (frame.isClosed || this.#stop) return;
    for (const loop of [...frame.loops]) this.#loops.fill(loop);
    const failed = [...frame.rows.values()].find((row) => row.status === "failed" && !this.#graph.continues(row.node_id));
    if (failed) this.#fail(frame, failed);
    else this.#touch(frame);
  }

  /** Looks at a frame whose schedule has changed. */
  #touch(frame: Frame): void {
    if (frame.isClosed) return;
    for (const id of frame.schedule.takeSkipped()) frame.rows.set(id, this.#ledger.skip(frame, id));
    if (frame.schedule.hasNews) this.#news.add(frame);
    if (frame.schedule.isDone) this.#loops.frameDone(frame);
  }

  /** Starts what is ready. True when anything happened. */
  async #startReady(): Promise<boolean> {
    const effects: [Frame, string][] = [];
    let count = 0;
    for (const frame of [...this.#news]) {
      this.#news.delete(frame);
      for (const id of this.#readersLast(frame.schedule.takeReady())) {
        count++;
        await this.#yield();
        // A node that is not started here has no row, so the next segment finds it ready again.
        if (frame.isClosed || this.#stop || this.#size.isOver) break;
        if (this.#graph.definition(id)?.isEffect) effects.push([frame, id]);
        else await this.#perform(await this.#prepare(frame, id));
        if (this.#batch.isLarge) await this.#batch.flush();
      }
    }
    if (!this.#stop) await this.#launch(effects);
    return count > 0;
  }

  /** Nodes of which something can be read from their beginning start before those that are ready with them. */
  #readersLast(ids: string[]): string[] {
    const isEarly = (id: string) => this.#graph.definition(id)?.earlyFields !== undefined;
    return ids.some(isEarly) ? [...ids.filter(isEarly), ...ids.filter((id) => !isEarly(id))] : ids;
  }

  /** Yields to the event loop after a slice of time, which renews the lease among other things. */
  async #yield(): Promise<void> {
    if (this.#slice.isUp) await this.#slice.next();
  }

  /** Resolves the config; a node whose expressions cannot be resolved fails here, without having started. */
  async #prepare(frame: Frame, id: string, waited?: LedgerRow): Promise<Attempt | undefined> {
    const row = waited
      ? { model: null, tool_calls: null, duration_ms: null, ...waited, status: "running" as const }
      : this.#ledger.begin(frame, id);
    const where = { node_id: id, ...(frame.path && { iteration: frame.path }), node_type: this.#graph.byId.get(id)?.type ?? "" };
    this.#batch.tell({ type: "node_start", ...where, attempt: row.attempt });
    try {
      const attempt = await this.#attempts.prepare(frame, id, row);
      return this.#isOver(frame) ? undefined : attempt;
    } catch (error) {
      if (this.#isOver(frame)) return undefined;
      // A wait that has been acted on is not found again, so its node cannot be retried.
      if (error instanceof HostFault && !waited) this.#fault = error;
      else this.#end(frame, row, { status: "failed", error: messageOf(error) });
      return undefined;
    }
  }

  /** Writes the attempts down as running, then starts them; with the row of one that has waited. */
  async #launch(effects: [Frame, string, LedgerRow?][]): Promise<void> {
    const attempts: [Attempt, endCall: () => void][] = [];
    for (const [frame, id, waited] of effects) {
      await this.#yield();
      // A wait that has been acted on is not found again, so its node starts in any case.
      const mustSkip = frame.isClosed || this.#stop !== undefined || (this.#size.isOver && waited === undefined);
      const attempt = mustSkip ? undefined : await this.#prepare(frame, id, waited);
      if (!attempt) continue;
      const masking = this.#batch.maskAhead([attempt.row.input]);
      if (masking) await masking;
      if (this.#isOver(frame)) continue;
      frame.rows.set(id, attempt.row);
      this.#batch.keep(attempt.row);
      attempts.push([attempt, this.#size.beginCall(charactersOf([attempt.row.input, attempt.context.config]))]);
    }
    if (attempts.length) await this.#batch.flush();
    for (const [attempt, endCall] of attempts)
      if (attempt.frame.isClosed || this.#stop) endCall();
      else this.#calls.add(this.#perform(attempt, endCall), attempt.row, this.#signal);
  }

  /** True when an abort is no failure of a node: the run was cancelled, or it ends because of another node. */
  #isOver(frame: Frame): boolean {
    return this.#signal.aborted || frame.isClosed || this.#stop !== undefined;
  }

  async #perform(attempt: Attempt | undefined, endCall?: () => void): Promise<void> {
    if (!attempt) return;
    const { definition, frame, row, context } = attempt;
    const isOver = () => this.#isOver(frame);
    try {
      const running = definition.run?.(context) ?? { output: "" };
      const outcome = running instanceof Promise ? await running : running;
      if (definition.isEffect) await this.#deltas.settle(row);
      const masking = this.#batch.maskAhead([row.input, ...("output" in outcome ? [outcome.output, outcome.details?.text] : [])]);
      if (masking) await masking;
      if ("loop" in outcome) {
        outcome.loop.items = await this.#batch.masked(outcome.loop.items);
        // To parse a long list has taken a slice of time, and to write it down takes another.
        await this.#yield();
      }
      if (!isOver()) this.#apply(attempt, outcome);
    } catch (error) {
      // Of a call that is stopped what had come of its answer stays.
      if (isOver()) row.output ??= this.#deltas.soFar(row);
      await this.#deltas.settle(row);
      if (isOver()) return;
      if (error instanceof HostFault) this.#fault = error;
      else this.#end(frame, row, { status: "failed", error: messageOf(error) });
    } finally {
      endCall?.();
    }
  }

  #apply({ frame, node, definition, row }: Attempt, outcome: NodeOutcome): void {
    if ("wait" in outcome) this.#waits.open(frame, node, this.#ledger.waiting(frame, row), outcome.wait);
    else if ("loop" in outcome) {
      const { items } = outcome.loop;
      const open: LedgerWrite = { ...row, items: items.length, input: JSON.stringify(items) };
      const refusal = this.#size.refusalOf(open.input);
      if (refusal !== undefined) this.#end(frame, row, { status: "failed", error: refusal });
      else {
        frame.rows.set(node.id, open);
        this.#batch.keep(open);
        this.#loops.open(frame, open, items, definition.body?.settings(definition.config.parse(node.data)));
      }
    } else if ("end" in outcome) {
      // Nothing after it counts, not even the end of an iteration that it stands in.
      this.#stop = { node_id: node.id, end: outcome.end };
      frame.rows.set(node.id, this.#ledger.end(row, { status: "complete", output: outcome.end.message, handle: outcome.end.status }));
    } else this.#end(frame, row, { status: "complete", ...outcome });
  }

  /** Acts on waits that have ended. */
  async #takeEnded(): Promise<void> {
    this.#mustLook = false;
    const again: [Frame, string, LedgerRow][] = [];
    for (const { frame, row, end } of await this.#waits.takeEnded())
      if (end === "again") again.push([frame, row.node_id, row]);
      else this.#end(frame, row, end);
    if (!this.#stop) await this.#launch(again);
  }

  /** A node has ended: its row is kept, and what follows it may start. */
  #end(frame: Frame, row: LedgerRow, end: { status: "complete" | "failed" | "skipped"; error?: string } & Partial<NodeResult>): void {
    if (frame.isClosed) return;
    const isLeaving = this.#size.isOver;
    const refusal = end.status === "complete" ? (this.#size.refusalOf(end.output) ?? this.#size.refusalOf(end.details?.text)) : undefined;
    const { status, ...result } = refusal === undefined ? end : { status: "failed" as const, error: refusal };
    const errorHandle = status === "failed" && this.#graph.continues(row.node_id) && this.#graph.definition(row.node_id)?.errorHandle;
    const done =
      status === "skipped"
        ? this.#ledger.skip(frame, row.node_id)
        : this.#ledger.end(row, { ...result, status, ...(errorHandle && { handle: errorHandle }) });
    // Of a run that leaves memory, the next segment concludes from the ledger what follows.
    if (isLeaving) return;
    frame.rows.set(row.node_id, { ...done, input: null });
    const excess = frame.parent && this.#graph.isOutput(row.node_id) ? this.#loops.keepOutput(done) : undefined;
    if (excess !== undefined) this.#stop ??= { node_id: row.node_id, error: excess };
    if (this.#graph.isRejection(done)) frame.isRejected = true;
    if (done.status === "failed" && !this.#graph.continues(row.node_id)) this.#fail(frame, done);
    else {
      frame.schedule.end(row.node_id, progressOf(done, this.#graph.continues(row.node_id)));
      this.#touch(frame);
    }
  }

  /** A node has failed: so has its frame, and the run if that is the workflow itself. */
  #fail(frame: Frame, row: LedgerRow): void {
    if (!frame.parent) this.#stop ??= { node_id: row.node_id, error: row.error ?? "" };
    else this.#loops.frameFailed(frame, row);
  }

  /** What a frame does no longer counts: its calls are aborted, what is open in it is skipped. */
  #close(frame: Frame): void {
    frame.close();
    this.#news.delete(frame);
    for (const row of [...frame.rows.values()]) {
      if (row.status !== "running" && row.status !== "waiting") continue;
      if (row.status === "running") row.output ??= this.#deltas.soFar(row);
      frame.rows.set(row.node_id, this.#ledger.skip(frame, row.node_id));
      this.#waits.withdraw(row);
    }
    for (const loop of frame.loops) for (const inner of loop.active.values()) this.#close(inner);
  }

  /** Aborts what still runs, marks what was not reached, and writes the end together with the last results. */
  async #finish(): Promise<ExecutorOutcome> {
    this.#ownAbort.abort(OVER);
    await this.#calls.settled();
    return this.#size.held > LARGE_ENDING ? largeEndings.run("", () => this.#writeEnd()) : this.#writeEnd();
  }

  async #writeEnd(): Promise<ExecutorOutcome> {
    const isLoopRejected = this.#top.isRejected && ![...this.#top.rows.values()].some((row) => this.#graph.isRejection(row));
    // What earlier segments have put out is read where it is written, and then so must be what this one has.
    if (this.#loops.hasPast || isLoopRejected) await this.#batch.flush();
    const { pieces, ...ended } = endingOf(this.#run, this.#top, {
      inside: await this.#loops.outputs(),
      stop: this.#stop,
      rejection: isLoopRejected ? await this.#loops.rejection() : undefined,
    });
    const ending: Ending = pieces ? { ...ended, ...(await this.#batch.longOutput(pieces)) } : ended;
    this.#close(this.#top);
    for (const id of this.#top.scope.nodeIds) if (!this.#top.rows.has(id)) this.#ledger.skip(this.#top, id);
    this.#batch.tell(endingEvent(this.#run, ending, this.#services.clock.now()));
    return { kind: "finished", ending: await this.#batch.end(ending) };
  }
}
