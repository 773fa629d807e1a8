/** Nodes between two breaths of the event loop, which renews the lease among other things. */
const BREATH = 50;

/** Lets everything else of the process have its turn, once in a while. */
export async function breathe(count: number): Promise<void> {
  if (count % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
}

/** Wakes one waiter. A ring that came while nobody waited is not lost. */
export class Bell {
  #isRung = false;
  #wake = () => {};

  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Resolves at the next ring, at once when there was one since the last wait. */
  async rung(): Promise<void> {
    if (!this.#isRung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#isRung = false;
  }
}
