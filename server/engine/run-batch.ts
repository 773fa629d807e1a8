import type { Commit, Ending, EngineServices, EventFact, LedgerWrite, RunState } from "#server/engine/ports.ts";

/** A batch with more text than this is written at once; PostgreSQL takes no parameter of 256 MiB. */
const FLUSH_CHARACTERS = 4_000_000;

/** What a segment has to write: gathered, and sent together with the next effect or the end. */
export class RunBatch {
  readonly #services: EngineServices;
  readonly #run: RunState;
  readonly #signal: AbortSignal;
  #waiting: Commit = { rows: [], events: [] };
  #characters = 0;

  /** @param signal fires when the lease is lost or the process halts: then no write is waited for any more */
  constructor(services: EngineServices, run: RunState, signal: AbortSignal) {
    this.#services = services;
    this.#run = run;
    this.#signal = signal;
  }

  /** True when it should be written before more is added. */
  get isLarge(): boolean {
    return this.#characters > FLUSH_CHARACTERS;
  }

  /** Adds an event, as of now. */
  tell(fact: EventFact): void {
    this.#waiting.events.push({ ...fact, timestamp: this.#services.clock.now().toISOString() });
  }

  /** Adds a row of the ledger as it is now. */
  keep(row: LedgerWrite): void {
    this.#waiting.rows.push({ ...row });
    this.#characters += (row.input?.length ?? 0) + 2 * (row.output?.length ?? 0);
  }

  /** Writes what has gathered. */
  async flush(): Promise<void> {
    if (this.#waiting.rows.length || this.#waiting.events.length) await this.#send(this.#waiting);
  }

  /** Writes the end of the run together with the last results. */
  async end(ending: Ending): Promise<void> {
    if (this.isLarge) await this.flush();
    await this.#send({ ...this.#waiting, ending });
  }

  async #send(commit: Commit): Promise<void> {
    this.#waiting = { rows: [], events: [] };
    this.#characters = 0;
    await this.#services.store.commit(this.#run, commit, this.#signal);
  }
}
