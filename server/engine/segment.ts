import { v7 as uuid } from "uuid";
import type { NodeContext, NodeDefinition, NodeResult, NodeScope } from "#server/engine/define-node.ts";
import { DeltaBuffer } from "#server/engine/delta-buffer.ts";
import { endingOf } from "#server/engine/ending.ts";
import { resolveText } from "#server/engine/expressions.ts";
import { definitionOf, templateFields } from "#server/engine/graph.ts";
import { type EngineServices, HostFault, type LedgerRow, type LedgerWrite, type RunState } from "#server/engine/ports.ts";
import { RunBatch } from "#server/engine/run-batch.ts";
import { latestRows, runScope, upstreamOutput } from "#server/engine/run-scope.ts";
import { makePlan, type NodeProgress, nextSteps, type Plan } from "#server/engine/scheduler.ts";
import type { GraphNode } from "#server/schemas/graph.ts";

/** What one pass over a run came to. */
export type SegmentOutcome = "finished" | "yielded";

interface Attempt {
  node: GraphNode;
  definition: NodeDefinition;
  row: LedgerWrite;
  config: Record<string, unknown>;
}

/** How often a node may be interrupted before it counts as the reason. */
const MOST_INTERRUPTIONS = 5;
/** Nodes between two breaths of the event loop, which renews the lease among other things. */
const BREATH = 50;
const breathe = () => new Promise((resolve) => setImmediate(resolve));

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * One stretch of a run in this process: starts whatever is ready, side by side, and writes each result before it counts.
 * Results of pure nodes wait in a batch and go out with the next effect, or when there is nothing to do but wait.
 */
export class Segment {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #names: NodeScope;
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  readonly #plan: Plan;
  readonly #rows: Map<string, LedgerRow>;
  readonly #signal: AbortSignal;
  readonly #ownAbort = new AbortController();
  readonly #batch: RunBatch;
  readonly #deltas: DeltaBuffer;
  readonly #inFlight = new Map<string, Promise<void>>();
  #fault: HostFault | undefined;

  /** @param signal fires when the lease is lost, by a cancellation or to another process */
  constructor(services: EngineServices, run: RunState, names: NodeScope, signal: AbortSignal) {
    this.#services = services;
    this.#run = run;
    this.#names = names;
    this.#nodes = new Map(run.graph.nodes.map((node) => [node.id, node]));
    this.#batch = new RunBatch(services, run, signal);
    this.#signal = AbortSignal.any([signal, this.#ownAbort.signal]);
    const isRoot = (type: string) => definitionOf(type)?.group === "trigger";
    const isInert = (type: string) => definitionOf(type)?.isInert === true;
    this.#plan = makePlan(run.graph, isRoot, isInert);
    this.#rows = latestRows(run.ledger);
    this.#deltas = new DeltaBuffer((events) => services.store.deltas(run, events), services.clock);
  }

  /**
   * Runs until nothing is left, or until `until`, after which nothing new is started.
   * @throws LeaseLost when somebody else took over; whatever the store throws when the database is away
   */
  async carryOn(until: Date): Promise<SegmentOutcome> {
    try {
      this.#closeInterrupted();
      for (let round = 1; ; round++) {
        if (round % BREATH === 0) await breathe();
        this.#signal.throwIfAborted();
        if (this.#fault) await this.#giveUp(this.#fault);
        const failed = this.#failedRow();
        if (failed) return await this.#end(failed);
        const { ready, skipped, isDone } = nextSteps(this.#plan, this.#progress());
        for (const id of skipped) this.#skip(id);
        if (isDone) return await this.#end(undefined);
        const isLate = this.#services.clock.now() >= until || this.#services.drain?.aborted === true;
        const attempts = isLate ? [] : await this.#prepareAll(ready);
        const pure = attempts.filter(({ definition }) => !definition.isEffect);
        for (const attempt of pure) {
          await this.#perform(attempt);
          if (this.#batch.isLarge) await this.#batch.flush();
        }
        await this.#launch(attempts.filter(({ definition }) => definition.isEffect));
        const hasFailedToStart = !isLate && attempts.length < ready.length;
        if (pure.length || skipped.length || hasFailedToStart) continue;
        if (this.#inFlight.size) {
          await this.#batch.flush();
          await Promise.race(this.#inFlight.values());
        } else if (isLate) return await this.#batch.flush().then(() => "yielded" as const);
      }
    } finally {
      this.#ownAbort.abort();
      this.#deltas.stop();
    }
  }

  /** Attempts found running belong to a process that died: they are closed, and their nodes start again. */
  #closeInterrupted(): void {
    for (const row of this.#rows.values()) {
      if (row.status !== "running") continue;
      const isOnceTooOften = row.attempt >= MOST_INTERRUPTIONS;
      const next = isOnceTooOften ? "It is not started again." : "The node is started again.";
      const error = `Interrupted: the process stopped during attempt ${row.attempt}. ${next}`;
      const closed = this.#written({ ...row, status: "failed", error, completed_at: this.#services.clock.now() });
      this.#batch.keep(closed);
      if (isOnceTooOften) this.#rows.set(row.node_id, closed);
      else this.#rows.delete(row.node_id);
    }
  }

  /** Lets calls under way end and keeps what they brought, then ends the segment: the step is tried again. */
  async #giveUp(fault: HostFault): Promise<never> {
    await Promise.allSettled(this.#inFlight.values());
    await this.#batch.flush();
    throw fault;
  }

  /** Resolves the configs of many nodes. */
  async #prepareAll(ids: string[]): Promise<Attempt[]> {
    const attempts: Attempt[] = [];
    for (const [index, id] of ids.entries()) {
      if (index % BREATH === BREATH - 1) await breathe();
      const attempt = this.#prepare(id);
      if (attempt) attempts.push(attempt);
    }
    return attempts;
  }

  #progress(): Map<string, NodeProgress> {
    const progress = new Map<string, NodeProgress>();
    for (const [id, row] of this.#rows) {
      const continues = row.status === "failed" && this.#nodes.get(id)?.data.on_error === "continue";
      progress.set(id, { status: row.status, handle: row.handle ?? undefined, continues });
    }
    return progress;
  }

  /** The first failed node that its config does not let the run survive. */
  #failedRow(): LedgerRow | undefined {
    const progress = this.#progress();
    return [...this.#rows.values()].find((row) => row.status === "failed" && !progress.get(row.node_id)?.continues);
  }

  #attemptOf(id: string): number {
    return 1 + Math.max(0, ...this.#run.ledger.filter((row) => row.node_id === id).map((row) => row.attempt));
  }

  #written(row: LedgerRow & Partial<LedgerWrite>): LedgerWrite {
    const duration_ms = row.started_at && row.completed_at ? row.completed_at.getTime() - row.started_at.getTime() : null;
    return { model: null, input: null, tool_calls: null, ...row, duration_ms };
  }

  #skip(id: string): void {
    const now = this.#services.clock.now();
    const row = this.#written({ ...this.#emptyRow(id), status: "skipped", started_at: null, completed_at: now });
    this.#rows.set(id, row);
    this.#batch.keep(row);
    this.#batch.tell({ type: "node_skipped", node_id: id });
  }

  #emptyRow(node_id: string): LedgerRow {
    return {
      id: uuid(),
      node_id,
      iteration: "",
      attempt: this.#attemptOf(node_id),
      status: "running",
      handle: null,
      output: null,
      error: null,
      started_at: this.#services.clock.now(),
      completed_at: null,
      input_tokens: 0,
      output_tokens: 0,
    };
  }

  /** Resolves the config; a node whose expressions cannot be resolved fails here, without having started. */
  #prepare(id: string): Attempt | undefined {
    const node = this.#nodes.get(id);
    const definition = node && definitionOf(node.type);
    if (!node || !definition) throw new Error(`The plan names "${id}", which is not in the graph.`);
    const row = this.#written(this.#emptyRow(id));
    this.#batch.tell({ type: "node_start", node_id: id, node_type: node.type, attempt: row.attempt });
    try {
      const scope = runScope(this.#run, this.#rows, this.#names);
      const config: Record<string, unknown> = { ...definition.config.parse(node.data) };
      for (const field of templateFields(definition)) config[field] = resolveText(String(config[field] ?? ""), scope);
      const own = templateFields(definition)[0];
      const upstream = upstreamOutput(this.#run, this.#rows, this.#progress(), id);
      row.input = (own && String(config[own] ?? "").trim()) || upstream || (definition.group === "trigger" ? this.#run.input : "");
      return { node, definition, row, config };
    } catch (error) {
      this.#record(row, { status: "failed", error: messageOf(error) });
      return undefined;
    }
  }

  /** Writes the attempts down as running, then starts them. */
  async #launch(attempts: Attempt[]): Promise<void> {
    if (attempts.length === 0) return;
    for (const { row } of attempts) {
      this.#rows.set(row.node_id, row);
      this.#batch.keep(row);
    }
    await this.#batch.flush();
    for (const attempt of attempts) {
      const { id } = attempt.node;
      this.#inFlight.set(
        id,
        this.#perform(attempt).finally(() => this.#inFlight.delete(id)),
      );
    }
  }

  async #perform(attempt: Attempt): Promise<void> {
    const { definition, node, row } = attempt;
    try {
      const result = await definition.run?.(this.#contextOf(attempt));
      await this.#deltas.settle(node.id);
      this.#record(row, { status: "complete", ...(result ?? { output: "" }) });
    } catch (error) {
      await this.#deltas.settle(node.id);
      // An abort is nobody's failure: the run was cancelled, or it ends because of another node.
      if (this.#signal.aborted) return;
      if (error instanceof HostFault) this.#fault = error;
      else this.#record(row, { status: "failed", error: messageOf(error) });
    }
  }

  #contextOf({ node, config }: Attempt): NodeContext<Record<string, unknown>> {
    return {
      config,
      upstream: upstreamOutput(this.#run, this.#rows, this.#progress(), node.id),
      trigger: { output: this.#run.input, params: this.#run.params },
      signal: this.#signal,
      onDelta: (content) => this.#deltas.add(node.id, content),
      callAgent: (call) =>
        this.#services.callAgent({
          ...call,
          project_id: this.#run.project_id,
          signal: this.#signal,
          onDelta: (content) => this.#deltas.add(node.id, content),
          onRestart: () => this.#deltas.reset(node.id),
        }),
    };
  }

  #record(row: LedgerWrite, end: { status: "complete" | "failed"; error?: string } & Partial<NodeResult>): void {
    const done = this.#written({
      ...row,
      ...end,
      handle: end.handle ?? null,
      tool_calls: end.tool_calls ?? null,
      completed_at: this.#services.clock.now(),
    });
    this.#rows.set(row.node_id, done);
    this.#batch.keep(done);
    const common = { node_id: row.node_id, duration_ms: done.duration_ms ?? 0 };
    this.#batch.tell(
      end.status === "complete"
        ? {
            type: "node_complete",
            ...common,
            output: done.output ?? "",
            input_tokens: done.input_tokens,
            output_tokens: done.output_tokens,
          }
        : { type: "node_failed", ...common, error: end.error ?? "" },
    );
  }

  /** Aborts what still runs, marks what was not reached, and writes the end together with the last results. */
  async #end(failed: LedgerRow | undefined): Promise<SegmentOutcome> {
    this.#ownAbort.abort();
    await Promise.allSettled(this.#inFlight.values());
    const ending = endingOf(this.#run, this.#rows, failed);
    for (const row of this.#rows.values()) if (row.status === "running") this.#skipRunning(row);
    for (const id of this.#plan.nodeIds) if (!this.#rows.has(id)) this.#skip(id);
    const duration_ms = this.#services.clock.now().getTime() - this.#run.created_at.getTime();
    this.#batch.tell(
      failed
        ? { type: "execution_failed", status: "failed", error: ending.error ?? "", duration_ms }
        : { type: "execution_complete", status: ending.status, output: ending.output, duration_ms },
    );
    await this.#batch.end(ending);
    return "finished";
  }

  #skipRunning(row: LedgerRow): void {
    const skipped = this.#written({ ...row, status: "skipped", completed_at: this.#services.clock.now() });
    this.#rows.set(row.node_id, skipped);
    this.#batch.keep(skipped);
    this.#batch.tell({ type: "node_skipped", node_id: row.node_id });
  }
}
