import { KeyedSemaphore } from "#server/platform/keyed-semaphore.ts";
import { LONG, type Masker, unmasked } from "#server/platform/masking/masker.ts";
import { TimeSlice } from "#server/platform/time-slice.ts";
import {
  type Commit,
  type Ending,
  type EngineServices,
  type EventFact,
  LeaseLost,
  type LedgerWrite,
  type LongOutput,
  type RunState,
  type WaitWrite,
} from "#server/runs/ports.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { shortError } from "#server/workflow/output-size.ts";

/** A batch with more text than this is written at once; PostgreSQL takes no parameter of 256 MiB. */
const FLUSH_CHARACTERS = 4_000_000;
/** So is one with more rows, so that a loop of any length needs little memory. */
const FLUSH_ROWS = 4000;

/** A statement with more characters waits until fewer than two such statements of this process are in flight: each needs several copies. */
const LARGE_WRITE = 1_000_000;
const largeWrites = new KeyedSemaphore(2, Number.POSITIVE_INFINITY, "");

/** Characters of the beginning of a long output: what is shown and searched of it. */
const BEGINNING = 16 * 1024;

/** Texts of a run in which a secret may stand; everything else is named by the graph. */
const EVENT_TEXTS = ["content", "output", "error", "title", "display_value"];
const WAIT_TEXTS = ["title", "description", "display_value", "text"];

/** With an error no longer than is kept. Cut only after the masking: it would not know half of a secret. */
const withShortError = <Fields extends object>(fields: Fields): Fields =>
  "error" in fields && typeof fields.error === "string" ? { ...fields, error: shortError(fields.error) } : fields;

/** A row without secrets. The input of an open loop is its items as JSON, which had theirs masked one by one. */
function maskedRow(row: LedgerWrite, masker: Masker): LedgerWrite {
  if (masker === unmasked) return withShortError(row);
  const { tool_calls, details } = row;
  const shown = masker.fields(row, row.items === null ? ["input", "output", "error"] : ["output", "error"]);
  return withShortError({ ...shown, tool_calls: tool_calls && masker.deep(tool_calls), ...(details && { details: masker.deep(details) }) });
}

const sizeOf = (row: LedgerWrite) => (row.input?.length ?? 0) + 2 * (row.output?.length ?? 0);

/** Rows in order, in parts that one statement takes. */
function inParts(rows: readonly LedgerWrite[]): LedgerWrite[][] {
  const parts: LedgerWrite[][] = [[]];
  let size = 0;
  for (const row of rows) {
    if (size > 0 && size + sizeOf(row) > FLUSH_CHARACTERS) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(row);
    size += sizeOf(row);
  }
  return parts;
}

type Gathered = Commit & Required<Pick<Commit, "waits" | "taken" | "withdrawn">>;
const nothing = (): Gathered => ({ rows: [], events: [], waits: [], taken: [], withdrawn: [] });

/**
 * What a segment has to write: gathered, and sent together with the next effect or the end. Everything that a run stores
 * or tells comes through here, and has its secrets masked.
 */
export class RunBatch {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #signal: AbortSignal;
  readonly #masker: Masker;
  #waiting = nothing();
  /** Rows that are being written. */
  #underWay: readonly LedgerWrite[] = [];
  /** A loop's latest progress in the batch; one is enough, and it comes after the items that it counts. */
  #progress = new Map<string, Commit["events"][number]>();
  #outdated = new Set<Commit["events"][number]>();
  #characters = 0;

  /** @param signal fires when the lease is lost or the process halts: then no write is waited for any more */
  constructor(services: EngineServices, run: RunState, signal: AbortSignal, masker: Masker) {
    this.#services = services;
    this.#masker = masker;
    this.#run = run;
    this.#signal = signal;
  }

  /** True when it should be written before more is added. */
  get isLarge(): boolean {
    return this.#characters > FLUSH_CHARACTERS || this.#waiting.rows.length > FLUSH_ROWS;
  }

  /** Adds an event, as of now. */
  tell(fact: EventFact): void {
    const event = { ...withShortError(this.#masker.fields(fact, EVENT_TEXTS)), timestamp: this.#services.clock.now().toISOString() };
    const key = fact.type === "loop_progress" ? `${fact.iteration ?? ""} ${fact.node_id}` : undefined;
    const earlier = key === undefined ? undefined : this.#progress.get(key);
    if (earlier) this.#outdated.add(earlier);
    if (key !== undefined) this.#progress.set(key, event);
    this.#waiting.events.push(event);
  }

  /**
   * Adds a row of the ledger as it is now.
   * @returns the row as it is kept, which is how a later segment finds it, and how what follows has to read it
   */
  keep(row: LedgerWrite): LedgerWrite {
    const kept = maskedRow(row, this.#masker);
    this.#waiting.rows.push({ ...kept });
    this.#characters += sizeOf(kept);
    return kept;
  }

  /** Masks long texts before `keep` has to, in slices of time. Returns undefined when none is long. */
  maskAhead(texts: readonly (string | null | undefined)[]): Promise<unknown> | undefined {
    const long = this.#masker === unmasked ? [] : texts.filter((text) => text && text.length >= LONG);
    return long.length ? this.#masker.inSlices(long) : undefined;
  }

  /** A value as it would be kept; a long one takes slices of time. */
  masked<Value>(value: Value): Promise<Value> {
    return this.#masker.inSlices(value);
  }

  /** Begins a wait. */
  open(wait: WaitWrite): void {
    const { request } = wait;
    this.#waiting.waits.push({ ...this.#masker.fields(wait, WAIT_TEXTS), ...(request && { request: this.#masker.deep(request) }) });
    this.#characters += (wait.display_value?.length ?? 0) + (wait.text?.length ?? 0);
  }

  /** Takes note that the run has acted on the end of a wait. */
  take(wait_id: string): void {
    this.#waiting.taken.push(wait_id);
  }

  /** Withdraws a wait that nobody needs any more. */
  withdraw(node_id: string, iteration: string): void {
    // One that was never written down simply does not begin.
    const opened = this.#waiting.waits.findIndex((wait) => wait.node_id === node_id && wait.iteration === iteration);
    if (opened === -1) this.#waiting.withdrawn.push({ node_id, iteration });
    else this.#waiting.waits.splice(opened, 1);
  }

  /** The run does nothing but wait, or goes on. */
  mark(status: "running" | "paused"): void {
    if (this.#run.status !== status) this.#waiting.status = status;
    else delete this.#waiting.status;
  }

  /** True when nothing waits to be written. */
  get isEmpty(): boolean {
    const { rows, events, taken, status } = this.#waiting;
    return !(rows.length || events.length || taken.length || status);
  }

  /** Writes what has gathered. */
  async flush(): Promise<void> {
    if (!this.isEmpty) await this.#send(this.#waiting);
  }

  /**
   * Masks an output that is never put together in memory.
   * @param make makes its pieces; is called twice
   */
  async longOutput(make: () => Iterable<string>): Promise<{ output: string; long: LongOutput }> {
    const masker = this.#masker;
    function* pieces(): Generator<string> {
      const stream = masker.stream();
      for (const piece of make()) yield stream.push(piece);
      yield stream.end();
    }
    const slice = new TimeSlice();
    let output = "";
    let length = 0;
    for (const piece of pieces()) {
      if (output.length < BEGINNING) output += piece.slice(0, BEGINNING - output.length);
      length += piece.length;
      if (slice.isUp) await slice.next();
    }
    return { output, long: { length, pieces } };
  }

  /**
   * Writes the end of the run together with the last results.
   * @returns the ending as it is kept
   */
  async end(ending: Ending): Promise<Ending> {
    if (this.isLarge) await this.flush();
    const output = await this.#masker.inSlices(ending.output);
    const outputs: Ending["outputs"] = [];
    for (const one of ending.outputs) outputs.push({ ...one, value: await this.#masker.inSlices(one.value) });
    const kept = { ...withShortError(this.#masker.fields(ending, ["error"])), output, outputs };
    await this.#send({ ...this.#waiting, waits: [], ending: kept });
    return kept;
  }

  /**
   * Counts what calls of agents used whose results nobody keeps, because the lease was lost: those that were under way, with what
   * had come of their answers, and those that had ended and were not written.
   * @param open attempts under way
   * @param error what the segment ended with; nothing is done when the lease is still held
   */
  async countLost(open: readonly LedgerWrite[], error: unknown): Promise<void> {
    if (!(error instanceof LeaseLost || this.#signal.aborted)) return;
    const { effects } = compileGraph(this.#run.graph);
    // A pure node has no row before it has a result, and a run that was only put into the queue has made no call.
    const rows = [...this.#underWay, ...this.#waiting.rows, ...open].filter(
      ({ node_id, agent_id, output }) => effects.has(node_id) && (agent_id !== undefined || output !== null),
    );
    const last = [...new Map(rows.map((row) => [row.id, row])).values()];
    if (last.length)
      await this.#services.store.spent(
        this.#run,
        last.map((row) => maskedRow(row, this.#masker)),
      );
  }

  #write(commit: Commit): Promise<void> {
    const write = () => this.#services.store.commit(this.#run, commit, this.#signal);
    const size = commit.rows.reduce((sum, row) => sum + sizeOf(row), 0);
    return size > LARGE_WRITE ? largeWrites.run("", write) : write();
  }

  async #send(commit: Gathered): Promise<void> {
    this.#underWay = commit.rows;
    this.#waiting = nothing();
    this.#progress = new Map();
    const outdated = this.#outdated;
    this.#outdated = new Set();
    this.#characters = 0;
    const { rows, ...rest } = commit;
    if (outdated.size) rest.events = rest.events.filter((event) => !outdated.has(event));
    const parts = inParts(rows);
    // Large results that came together go out one after the other, all else with the last.
    for (const part of parts.slice(0, -1)) await this.#write({ rows: part, events: [] });
    await this.#write({ ...rest, rows: parts.at(-1) ?? [] });
    this.#underWay = [];
    if (commit.status) this.#run.status = commit.status;
    const reviews = commit.waits.filter(({ reason }) => reason === "review");
    const children = commit.waits.filter(({ reason }) => reason === "child");
    if (children.length) this.#services.childrenWanted(children.map(({ id }) => id));
    if (reviews.length) this.#services.reviewsOpened(reviews.map(({ id }) => id));
  }
}
