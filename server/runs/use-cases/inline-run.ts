import { cleanText } from "#server/platform/clean-text.ts";
import { pool } from "#server/platform/db/client.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { newId } from "#server/platform/new-id.ts";
import { processId } from "#server/platform/settings.ts";
import { executeRun, isRefused } from "#server/runs/executor/execute-run.ts";
import { type LocalWorker, localWorker } from "#server/runs/local-worker.ts";
import { type Commit, LeaseLost, type RunState } from "#server/runs/ports.ts";
import { isAccepted, noteCommit } from "#server/runs/store/commit.ts";
import { type AgentsAsked, createExecution, type DeliveryOfExecution, type NewExecution, type Started } from "#server/runs/store/create.ts";
import type { RunEnding } from "#server/runs/store/executions.ts";
import { mustWriteAhead } from "#server/runs/store/long-texts.ts";
import { dispatchRuns } from "#server/runs/worker/dispatch.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How long an accepted run may stay unwritten because it may be over in a moment, in milliseconds. */
export const MOMENT_MS = 50;

/** For how long an agent that was read with the beginning of its call is taken as it was, in milliseconds. */
const KNOWN_MS = 1000;
/** For how long the answer to an acceptance that got lost is looked for, in milliseconds. */
const LOST_ANSWER_MS = 1500;
/** How long a run may be executed here, in seconds: as long as it takes. No request waits for it to hand over. */
const LONGEST_SECONDS = 30 * 24 * 3600;

/**
 * `ending`: how the run ends when this process runs it; resolves with nothing when another goes on with it.
 * `dispatched`: when another executes it, whether the request for that has been taken.
 */
export type Accepted = Started & { ending?: Promise<RunEnding | undefined>; dispatched?: Promise<boolean> };

/** True when a run of the graph needs nobody but the process that accepts it: it waits for nothing and reads no secret. */
function canRunInline(graph: Graph): boolean {
  const { hasWaits, credentials } = compileGraph(graph);
  return !hasWaits && credentials.size === 0;
}

/** As it is kept: PostgreSQL takes no U+0000. */
const keptEnding = ({ status, output, error }: RunEnding): RunEnding => ({
  status,
  output: output && cleanText(output),
  error: error && cleanText(error),
});

/** Ids of the agents whose calls begin once this is written. */
function agentsOf({ graph }: RunState, { rows }: Commit): string[] {
  const { byId, effects } = compileGraph(graph);
  const begun = rows.filter((row) => row.status === "running" && effects.has(row.node_id));
  return [...new Set(begun.map((row) => byId.get(row.node_id)?.data.agent_id))].filter((id) => typeof id === "string");
}

/** @throws LeaseLost when it was not accepted, or its project has as many under way as it may, and it waits */
function assertBegun(started: Started): undefined {
  if (started.kind !== "started" || !started.isBegun) throw new LeaseLost("The run did not begin here.");
}

let beginnings = 0;
/** Names the lease of a run that begins with it; every try to accept one has its own. */
const beginning = () => `${processId()}-here-${++beginnings}`;

/**
 * A run in this process, beginning before it is written. Either all of it is written at once, when it is over in a moment,
 * or its beginning is, under a lease, before it does anything outside, and the rest as the run loop does it. Whatever is
 * written first is the acceptance, and the disk is waited for.
 */
class InlineRun {
  readonly accepted: Promise<Started>;
  readonly ending: Promise<RunEnding | undefined>;
  readonly #execution: NewExecution & { id: string };
  readonly #delivery: DeliveryOfExecution | undefined;
  readonly #worker: LocalWorker;
  readonly #run: RunState;
  readonly #settle: (started: Promise<Started>) => void;
  readonly #end: (ending: RunEnding | undefined) => void;
  #writing: Promise<Started> | undefined;
  #soon: NodeJS.Timeout | undefined;
  #known: { agents: AgentsAsked; until: number } | undefined;

  constructor(worker: LocalWorker, execution: NewExecution & { id: string; graph: Graph }, delivery: DeliveryOfExecution | undefined) {
    const accepted = Promise.withResolvers<Started>();
    const ending = Promise.withResolvers<RunEnding | undefined>();
    this.accepted = accepted.promise;
    this.ending = ending.promise;
    this.#settle = accepted.resolve;
    this.#end = ending.resolve;
    this.#execution = execution;
    this.#delivery = delivery;
    this.#worker = worker;
    const { id, project_id, graph, params, parent } = execution;
    const now = worker.services.clock.now();
    const nothing = { ledger: [], items: [], kept: 0, commits: 0, crashes: 0, deltaFloors: new Map() };
    const lease = { epoch: 1, holder: beginning(), status: "running" } as const;
    const input = cleanText(execution.input);
    this.#run = {
      id,
      project_id,
      graph,
      input,
      params: params ?? {},
      parent_id: parent?.execution_id ?? null,
      message_id: execution.assistant_message_id ?? null,
      created_at: now,
      started_at: now,
      ...lease,
      ...nothing,
    };
  }

  async #insert(first?: Commit): Promise<Started> {
    const begun = { run: this.#run, ...(first && { first, asks: agentsOf(this.#run, first) }) };
    try {
      const started = await createExecution(this.#execution, { delivery: this.#delivery, begun });
      if (started.kind === "started" && started.agents) this.#known = { agents: started.agents, until: Date.now() + KNOWN_MS };
      return started;
    } catch (error) {
      // A try that is under way when the time is over is not waited for.
      const late = new Promise<boolean>((resolve) => setTimeout(resolve, LOST_ANSWER_MS, false).unref());
      const isThere = () => Promise.race([isAccepted(this.#run, AbortSignal.timeout(LOST_ANSWER_MS)).catch(() => false), late]);
      if (isDatabaseAway(error) && (await isThere())) return { kind: "started", execution_id: this.#run.id, isBegun: true };
      throw error;
    }
  }

  /** How the run is written, once that is known; undefined while it is not, and when it was not accepted. */
  async #started(): Promise<Extract<Started, { kind: "started" }> | undefined> {
    const started = await this.#writing?.catch(() => undefined);
    return started?.kind === "started" ? started : undefined;
  }

  /** Writes that it has begun, unless that is written. */
  async #begin(): Promise<void> {
    this.#writing ??= this.#insert();
    this.#settle(this.#writing);
    assertBegun(await this.#writing);
  }

  /** Writes the first thing that it has to. A result that cannot be stored is no reason to refuse the run: it begins, and ends as failed. */
  async #writeFirst(commit: Commit): Promise<void> {
    clearTimeout(this.#soon);
    const writing = this.#insert(commit);
    this.#writing = writing;
    const refusal = await writing.then(assertBegun).catch((error: unknown) => {
      if (isRefused(error)) return error;
      this.#settle(writing);
      throw error;
    });
    if (!refusal) {
      noteCommit(this.#run, commit.rows);
      return this.#settle(writing);
    }
    this.#writing = undefined;
    await this.#begin();
    throw refusal;
  }

  async #commit(run: RunState, commit: Commit, signal: AbortSignal): Promise<void> {
    if (!this.#writing && !mustWriteAhead(commit)) return this.#writeFirst(commit);
    await this.#begin();
    await this.#worker.services.store.commit(run, commit, signal);
  }

  /** Runs it until it is over or somebody else has to go on. Never throws. */
  async execute(): Promise<void> {
    const { services, held } = this.#worker;
    held.add(this.#run.holder);
    this.#soon = setTimeout(() => void this.#begin().catch(() => undefined), MOMENT_MS);
    const store = {
      ...services.store,
      commit: this.#commit.bind(this),
      // A lease that is not written yet cannot be lost, and one that was never written not be given back.
      renew: async (run: RunState) => ((await this.#started()) ? services.store.renew(run) : true),
      release: async (...how: Parameters<typeof services.store.release>) =>
        (await this.#started())?.isBegun ? services.store.release(...how) : false,
    };
    const callAgent: typeof services.callAgent = (call) => {
      const { agents, until = 0 } = this.#known ?? {};
      const known = Date.now() < until ? agents?.[call.agent_id] : undefined;
      // Once: a later call of the same agent is a later attempt, and asks it as it is then.
      if (agents) delete agents[call.agent_id];
      return services.callAgent({ ...call, known });
    };
    try {
      const outcome = await executeRun({ ...services, store, callAgent }, this.#run, LONGEST_SECONDS, this.#execution.names);
      if (outcome.kind === "over") return this.#end(outcome.ending?.long ? undefined : outcome.ending && keptEnding(outcome.ending));
    } catch (error) {
      log.warn({ err: error, execution_id: this.#run.id }, "a run could not be carried on where it was accepted");
    } finally {
      clearTimeout(this.#soon);
      held.delete(this.#run.holder);
    }
    await this.#handOver();
    this.#end(undefined);
  }

  /** Leaves the run to whoever has a slot for it, if it was accepted or still can be. */
  async #handOver(): Promise<void> {
    this.#writing ??= createExecution(this.#execution, { delivery: this.#delivery });
    this.#settle(this.#writing);
    if (!(await this.#started())) return;
    await dispatchRuns([{ execution_id: this.#run.id, project_id: this.#run.project_id, dispatch: 0 }]);
  }
}

/**
 * Writes a new execution and sees to it that it is run: here and at once when that needs nobody else and a slot is free, else by whoever has one.
 * @throws the database's error; then nothing was accepted
 */
export async function acceptRun(execution: NewExecution, delivery?: DeliveryOfExecution): Promise<Accepted> {
  const { graph, project_id, workflow_version } = execution;
  const worker = graph && workflow_version !== null && canRunInline(graph) ? localWorker(pool()) : undefined;
  // Made before a slot is reserved, so that nothing can stand between reserving it and giving it back.
  const inline = worker && graph && new InlineRun(worker, { ...execution, graph, id: execution.id ?? newId() }, delivery);
  const work = inline && worker.reserve(compileGraph(graph).effects.size > 0);
  if (!work) {
    const started = await createExecution(execution, { delivery });
    if (started.kind !== "started") return started;
    const dispatched = dispatchRuns([{ execution_id: started.execution_id, project_id, dispatch: 0 }]);
    return { ...started, dispatched };
  }
  work(() => inline.execute());
  const started = await inline.accepted;
  return started.kind === "started" ? { ...started, ending: inline.ending } : started;
}
