import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import type { ExecutionStatus, NodeStatus } from "#server/runs/status-schema.ts";
import type { CallAttempt } from "#server/shared/call-attempts.ts";
import type {
  AgentCall,
  BudgetRequest,
  ChildRequest,
  CodeCall,
  HttpAnswer,
  HttpCall,
  NodeDetails,
  NodeResult,
  ReviewRequest,
  WaitEnd,
  WaitRequest,
} from "#server/workflow/nodes/definition.ts";
import type { LongReads, ReadResult } from "#server/workflow/resolve-expressions.ts";
import type { JsonRewrite, RewrittenJson } from "#server/workflow/rewrite-json.ts";
import type { Graph } from "#server/workflow/schema.ts";

// What the executor needs from the world, and what it and the store tell each other. The executor imports none of it, so a test
// can hand in its own.

/** One attempt of a node, as the ledger keeps it. */
export interface LedgerRow {
  id: string;
  node_id: string;
  iteration: string;
  attempt: number;
  status: NodeStatus;
  handle: string | null;
  output: string | null;
  error: string | null;
  started_at: Date | null;
  completed_at: Date | null;
  input_tokens: number;
  output_tokens: number;
  /** Of a loop: how many items it runs for. */
  items: number | null;
  /** What it was given; read back only of a row under way. */
  input: string | null;
  /** True of an attempt whose process died, and whose node is started again. */
  is_interrupted?: boolean;
  /** True of an agent's whose answer ended at the limit of its length and may be cut. */
  is_cut_off?: boolean;
  /** What it left behind besides its output. */
  details?: NodeDetails | null;
}

/** The handle of the row that keeps one item's result: it bears the loop's id and the iteration's path. */
export const ITEM = "item";

/** Which items of one loop have ended: what a later segment needs of them until the loop closes, however many there are. */
export interface EndedItems {
  /** The loop. */
  node_id: string;
  /** Path of the iteration that the loop itself is in; empty outside loops. */
  path: string;
  /** Their indices as spans: from the first up to, and without, the second. */
  spans: [number, number][];
  complete: number;
  failed: number;
  /** True when one was rejected, which stops the loop. */
  isStopped: boolean;
}

/** How one item of a loop ended, read when its loop closes. */
export type ItemRow = Pick<LedgerRow, "iteration" | "status" | "output" | "error">;

/** Output of a node inside a loop in one iteration. */
export type BodyOutput = Pick<LedgerRow, "node_id" | "iteration" | "handle" | "output">;

/** A row to write; fields left out of an update keep their value. What a call cost comes with the agent that made it. */
export interface LedgerWrite extends LedgerRow, Pick<NodeResult, "agent_id" | "llm_key_id" | "provider" | "cached_tokens" | "cost"> {
  duration_ms: number | null;
  model: string | null;
  tool_calls: NodeResult["tool_calls"] | null;
}

type WithoutExecution<Event> = Event extends unknown ? Omit<Event, "execution_id"> : never;
/** An event before the store adds whose it is. */
export type EventWrite = WithoutExecution<ExecutionEvent>;
type WithoutTime<Event> = Event extends unknown ? Omit<Event, "timestamp"> : never;
/** An event before it is known when it happened. */
export type EventFact = WithoutTime<EventWrite>;

/** Everything that one segment starts from. */
export interface RunState {
  id: string;
  project_id: string;
  /** As the database has it; kept up with what is written. */
  status: ExecutionStatus;
  epoch: number;
  /** Names this acquisition of the lease, and no other ever. */
  holder: string;
  /** Writes made under this lease; the store counts. */
  commits: number;
  /** By row under way: the number of the event after which its pieces come; the store keeps it. */
  deltaFloors: Map<string, number>;
  created_at: Date;
  started_at: Date;
  /** The run whose node waits for this one. */
  parent_id: string | null;
  /** Message to the assistant whose allowance its calls spend from. */
  message_id: string | null;
  input: string;
  params: Record<string, unknown>;
  graph: Graph;
  /** Everything but the rows of single items, and without the inside of iterations that have ended. */
  ledger: LedgerRow[];
  /** Of each loop that has begun, as far as it has come. */
  items: EndedItems[];
  /** Characters that Outputs inside loops have left behind. */
  kept: number;
  /** How many processes have died, or gone silent, under this run since a node of it has ended last. */
  crashes: number;
}

/** So many processes may die under a run, none of whose nodes has ended in between; then it is the reason, and fails. */
export const MAX_CRASHES = 3;

/** What of a run an earlier segment has done. */
export type Past = Pick<RunState, "ledger" | "items" | "kept">;

/** Time at which a released run is due again. */
export type NextClaim =
  | { kind: "now" }
  /** The run only waits. `run_at`: nearest deadline; null when it waits for people only. */
  | { kind: "idle"; run_at: Date | null }
  | { kind: "delayed"; seconds: number }
  /** This process cannot execute the run now, such as during a database outage. */
  | { kind: "retry" }
  /** An error that is no node's: due as for `retry`, and counted as a crash. */
  | { kind: "fault" };

/** What came of asking for the lease of a run. */
export type Claim =
  | { kind: "claimed"; run: RunState }
  /**
   * Another process executes it, and its lease lasts so long; that one looks again before it rests. Or the project's places are
   * taken. Not a time of day: clocks differ.
   */
  | { kind: "busy"; seconds: number }
  /** A newer request has claimed it, or it has ended. */
  | { kind: "over" };

/** An output that is too long to be put together in memory. */
export interface LongOutput {
  /** Characters of the whole. */
  length: number;
  /** Makes it, piece by piece; some may be empty. */
  pieces(): Iterable<string>;
}

/** How a run ended. */
export interface Ending {
  status: ExecutionStatus;
  /** Of a long one the beginning. */
  output: string | null;
  outputs: ExecutionOutput[];
  error: string | null;
  long?: LongOutput;
}

/** A wait that begins; of a review with what it asks. */
export interface WaitWrite extends Partial<ReviewRequest> {
  /** Of the attempt that waits. */
  id: string;
  node_id: string;
  iteration: string;
  reason: WaitRequest["reason"];
  label: string;
  /** When it expires; null: never. */
  deadline: Date | null;
  /** Of a callback, in hexadecimal. */
  token_hash?: string;
  /** Of a run that is waited for, or a budget. */
  request?: ChildRequest | BudgetRequest;
}

/** A wait as it stands: still open, or ended and not yet acted on. */
export interface WaitState {
  id: string;
  node_id: string;
  iteration: string;
  reason: WaitRequest["reason"];
  status: "waiting" | WaitEnd["status"];
  /** What it was resolved with. */
  outcome: unknown;
  /** What viewers are told of one that is open; the others come without. */
  title: string | null;
  display_value: string | null;
  /** Of a review that has ended: the text that flows on. */
  text: string | null;
  deadline: Date | null;
}

export interface Commit {
  rows: LedgerWrite[];
  events: EventWrite[];
  /** Set when the run begins or ends to do nothing but wait for people. */
  status?: "running" | "paused";
  waits?: WaitWrite[];
  /** Ids of waits whose end the run has acted on. */
  taken?: string[];
  /** Waits that nobody needs any more. */
  withdrawn?: { node_id: string; iteration: string }[];
  /** The end of the run; withdraws every wait that is still open. */
  ending?: Ending;
}

/** The write that ends a run as failed for a reason that is no node's. */
export function failure(error: string, now: Date, created_at: Date): Commit & { ending: Ending } {
  const duration_ms = now.getTime() - created_at.getTime();
  return {
    rows: [],
    events: [{ type: "execution_failed", status: "failed", error, duration_ms, timestamp: now.toISOString() }],
    ending: { status: "failed", output: null, outputs: [], error },
  };
}

/** The database side of a run. Every write carries the lease's epoch, so a process that lost its lease writes nothing. */
export interface RunStore {
  /**
   * Takes the lease of a run, if nobody has it and the project has a place.
   * @param dispatch number of the request of an Inngest server: it ends once a newer one has claimed the run
   * @param inngest_run_id of the function run there
   */
  claim(execution_id: string, dispatch?: number, inngest_run_id?: string): Promise<Claim>;
  /**
   * Writes all of it or nothing, and waits while the database is away, until `signal` fires.
   * @throws LeaseLost when another process or a cancellation took over
   */
  commit(run: RunState, commit: Commit, signal: AbortSignal): Promise<void>;
  /** Tells viewers pieces of running nodes; they are dropped when their node completes. */
  deltas(run: RunState, events: EventWrite[]): Promise<void>;
  /**
   * Counts what calls had used whose results could not be written, because the lease was lost. Their rows are already closed,
   * by the cancellation or by whoever executes the run now; one that has its count is left alone. Must not throw.
   * @param rows attempts with the agent that made the call
   */
  spent(run: RunState, rows: LedgerWrite[]): Promise<void>;
  /** Keeps the lease. False when it is lost. */
  renew(run: RunState): Promise<boolean>;
  /**
   * Releases the lease of a run that has not ended.
   * @returns true when the run is due at once: there is more to do, or it was woken meanwhile
   */
  release(run: Pick<RunState, "id" | "holder">, next: NextClaim): Promise<boolean>;
  /** The waits that are open, or have ended and are not taken, after those whose deadline has passed at `now` have expired. */
  waits(run: RunState, now: Date): Promise<WaitState[]>;
  /**
   * Returns the ends of a loop's items, as far as they are written. When their results are certainly longer than one node may leave
   * behind, only their length in bytes, so that they are not read into memory.
   */
  items(run: RunState, loop: { node_id: string; path: string }): Promise<ItemRow[] | { bytes: number }>;
  /**
   * Returns the outputs of these nodes in every iteration, as far as they are written.
   * @param handles only of attempts that left by one of these; left out, of all
   */
  bodyOutputs(run: RunState, node_ids: readonly string[], handles?: readonly string[]): Promise<BodyOutput[]>;
  /** Marks whatever is open in the ledger as skipped, for a run whose results cannot be stored. */
  closeOpen(run: RunState): Promise<void>;
  /** Calls back when somebody else changes the execution; returns how to stop listening. */
  onControl(execution_id: string, callback: () => void): Promise<() => void>;
}

/**
 * What a call of an agent has used and done so far, as a node's result tells it. A call tells it as it goes on, so that it is
 * known of one that fails or is cut off, too.
 */
export type CallUsage = Required<
  Pick<
    NodeResult,
    "agent_id" | "llm_key_id" | "provider" | "model" | "input_tokens" | "cached_tokens" | "output_tokens" | "cost" | "tool_calls"
  >
>;

/** What came of Python that a node ran. */
export type CodeResult = ({ output: string } | { failure: string }) & { printed: string };

export class LeaseLost extends Error {
  override name = "LeaseLost";
}

/** A result that is not taken, because the project holds more than it may. */
export class StorageFull extends Error {
  override name = "StorageFull";
}

/** The host failed, not the node: the segment ends without a result for it, and the node is started again. */
export class HostFault extends Error {
  override name = "HostFault";
}

export interface Clock {
  now(): Date;
}

export interface EngineServices {
  store: RunStore;
  clock: Clock;
  /** Fires when the process is told to stop: nothing new is started. */
  drain?: AbortSignal;
  /** Fires when its time to stop is up: calls under way are aborted, and run again elsewhere. */
  halt?: AbortSignal;
  /**
   * Calls an agent of the project (throws HostFault for a fault that is not the agent's); `onDelta` gets its answer piece by
   * piece, `onVersion` which version of it is asked, `onRestart` when a try begins anew, `onUsed` what it has used and done so far, each time its model has answered
   * (the list of tool calls goes on being filled). The message holds secrets in clear: `mask` takes them out of a text, and is
   * left out when there are none.
   */
  callAgent(
    call: AgentCall & {
      project_id: string;
      /** Who makes it. */
      run: { execution_id: string; message_id: string | null; node_id: string; iteration: string; attempt: number };
      /** The agent, when whoever wrote down this attempt has read it with that. For whoever calls it, not for the engine. */
      known?: unknown;
      signal: AbortSignal;
      mask?: ((text: string) => string) | undefined;
      onVersion(agent_version: number): void;
      onDelta(content: string): void;
      onRestart(): void;
      /** Gets each try of a request that is made more than once, as it ends. */
      onAttempt(attempt: CallAttempt): void;
      onUsed(usage: CallUsage): void;
    },
  ): Promise<NodeResult | { wait: WaitRequest }>;
  /**
   * Reads expressions in long texts outside of this thread.
   * @param project_id whose turn it takes
   * @throws ExpressionError when that takes too long or too much memory; HostFault when no process can be had; the signal's reason
   */
  readLong(reads: LongReads, signal: AbortSignal, project_id: string): Promise<ReadResult[]>;
  /**
   * Parses a long JSON text and writes it anew, outside of this thread.
   * @param project_id whose turn it takes
   * @throws as readLong
   */
  rewriteJson(rewrite: JsonRewrite, signal: AbortSignal, project_id: string): Promise<RewrittenJson>;
  /**
   * Whether a Python condition holds; one that takes long ends with `signal`, which is asked for only then: making one for each
   * costs more than most conditions do.
   * @param project_id whose turn it takes
   * @throws Error that says what is wrong with it
   */
  evaluate(
    condition: string,
    variables: { output: string; trigger_output: string; node_outputs: Record<string, string> },
    signal: () => AbortSignal,
    project_id: string,
  ): boolean | Promise<boolean>;
  /**
   * Runs Python; see `NodeContext.runCode`. What it came to and what it printed, or why it failed.
   * @param project_id whose turn it takes
   * @throws HostFault when no process can be had; the signal's reason
   */
  runCode(call: CodeCall, signal: AbortSignal, project_id: string): Promise<CodeResult>;
  /**
   * Makes an HTTP call of a node, from anywhere but into this install's own network unless the operator allows that.
   * @param onAttempt gets each try of a call that is made more than once, as it ends
   * @throws Error with a sentence when there is no answer; the signal's reason
   */
  callHttp(call: HttpCall, signal: AbortSignal, onAttempt?: (attempt: CallAttempt) => void): Promise<HttpAnswer>;
  /** The secret that resolves the callback of a wait, and the address that takes it; always the same for one wait. */
  callback(wait_id: string): { token: string; url: string };
  /** Reviews have begun and are in the database: tell those who can decide. Must not throw. */
  reviewsOpened(ids: string[]): void;
  /** Waits for runs of other workflows have begun and are in the database: start those. Must not throw. */
  childrenWanted(wait_ids: string[]): void;
  /** A run of a saved version has failed that no other has started: whoever wants to know is told. Must not throw. */
  runFailed(execution_id: string): void;
  /** A run has ended that a node of another one waits for: tell that. Must not throw. */
  childEnded(execution_id: string): void;
  /** A run has ended whose nodes may have started others: end those. Must not throw. */
  parentEnded(execution_id: string): void;
  /** Names of the project's agents by id. */
  agentNames(project_id: string, ids: string[]): Promise<Map<string, string>>;
  /**
   * The project's secrets by name, in clear. Asked once a segment, and only for a graph that reads one.
   * @throws AppError when they cannot be read, and asking again would not help
   */
  credentials(project_id: string): Promise<ReadonlyMap<string, string>>;
}
