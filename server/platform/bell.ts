/** Wakes one waiter. A ring that came while nobody waited is not lost. */
export class Bell {
  #isRung = false;
  #wake = () => {};

  /** @param signal rings when it fires */
  constructor(signal?: AbortSignal) {
    signal?.addEventListener("abort", () => this.ring());
  }

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves at the next ring, at once when there was one since the last wait; after `ms` milliseconds in any case, if given. */
  async rung(ms?: number): Promise<void> {
    if (!this.#isRung)
      await new Promise<void>((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.#isRung = false;
  }
}
