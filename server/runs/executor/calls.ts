import type { LedgerWrite } from "#server/runs/ports.ts";

/** The effects of a segment that are under way. */
export class Calls {
  readonly #underWay = new Set<Promise<void>>();
  /** Those that began while the segment still had time. */
  #early = new Set<Promise<void>>();
  /** The attempts that they are, for as long as nothing else has noted how they ended. */
  readonly #rows = new Set<LedgerWrite>();
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#underWay.size;
  }

  /**
   * @param call must not be rejected
   * @param over fires when the segment ends, after which the call's end is not noted any more
   */
  add(call: Promise<void>, row: LedgerWrite, over: AbortSignal): void {
    this.#rows.add(row);
    const tracked = call.finally(() => {
      this.#underWay.delete(tracked);
      if (!over.aborted) this.#rows.delete(row);
      this.#onEnd();
    });
    this.#underWay.add(tracked);
  }

  /** Attempts whose end is not noted. */
  get open(): readonly LedgerWrite[] {
    return [...this.#rows];
  }

  /** Resolves when all that are under way now have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  /**
   * Whether the segment has to stay although its time is up: while a call that began in time goes on it cannot end anyway,
   * and a long one must not hold up the other branches.
   */
  mustStay(isTimeUp: boolean): boolean {
    if (!isTimeUp) this.#early = new Set(this.#underWay);
    return [...this.#early].some((call) => this.#underWay.has(call));
  }
}
