/** Gives a place back. */
export type Leave = () => void;

interface Waiting {
  key: string;
  admit: (leave: Leave) => void;
}

/** Places for work of this process, at most so many in all and of one key; who waits is let in by turns. */
export class Places {
  readonly #all: number;
  readonly #each: number;
  readonly #taken = new Map<string, number>();
  #count = 0;
  #waiting: Waiting[] = [];

  constructor(limits: { all: number; each: number }) {
    this.#all = limits.all;
    this.#each = limits.each;
  }

  /** A place at once, unless there is none or somebody waits who would come first. */
  tryEnter(key: string): Leave | undefined {
    const isBehind = this.#waiting.some((other) => other.key === key || this.#hasRoom(other.key));
    return isBehind || !this.#hasRoom(key) ? undefined : this.#take(key);
  }

  /**
   * A place as soon as there is one.
   * @param signal ends the wait: then without a place, and whoever asked had better look at the signal
   */
  async enter(key: string, signal?: AbortSignal): Promise<Leave> {
    const leave = this.tryEnter(key);
    if (leave || signal?.aborted) return leave ?? (() => undefined);
    const { promise, resolve } = Promise.withResolvers<Leave>();
    const waiting: Waiting = { key, admit: resolve };
    this.#waiting.push(waiting);
    const giveUp = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      resolve(() => undefined);
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #hasRoom(key: string): boolean {
    return this.#count < this.#all && (this.#taken.get(key) ?? 0) < this.#each;
  }

  #take(key: string): Leave {
    this.#count++;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#count--;
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left) this.#taken.set(key, left);
      else this.#taken.delete(key);
      this.#letIn();
    };
  }

  #letIn(): void {
    for (const waiting of [...this.#waiting]) {
      if (!this.#hasRoom(waiting.key)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      waiting.admit(this.#take(waiting.key));
    }
  }
}
