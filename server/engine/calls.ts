/** The effects of a segment that are under way. */
export class Calls {
  readonly #underWay = new Set<Promise<void>>();
  /** Those that began while the segment still had time. */
  #early = new Set<Promise<void>>();
  readonly #onEnd: () => void;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#underWay.size;
  }

  /** @param call must not be rejected */
  add(call: Promise<void>): void {
    const tracked = call.finally(() => {
      this.#underWay.delete(tracked);
      this.#onEnd();
    });
    this.#underWay.add(tracked);
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
