/** Longest stretch of one piece of work without a turn of the event loop, and of all work of the process together, in milliseconds. */
const SLICE_MS = 10;
const TURN_MS = 20;

/** Turn of the event loop, from the first look at the time in it. */
interface Turn {
  began: number;
}

let turn: Turn | undefined;

function currentTurn(now: number): Turn {
  if (!turn) {
    turn = { began: now };
    setImmediate(() => {
      turn = undefined;
    });
  }
  return turn;
}

/** Decides when work that has yielded goes on. */
interface Resumption {
  add(resume: () => void): void;
}

/**
 * For long work: resumes one at a time, and five turns apart. A request takes several turns from its connection to its answer, and would
 * wait for a slice at each; where there is nothing else to do, a turn takes microseconds.
 */
class LongWork implements Resumption {
  readonly #waiting: (() => void)[] = [];

  add(resume: () => void): void {
    if (this.#waiting.push(resume) === 1) this.#afterTurns(5);
  }

  #afterTurns(turns: number): void {
    setImmediate(() => {
      if (turns > 1) return this.#afterTurns(turns - 1);
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#afterTurns(5);
    });
  }
}

const longWork = new LongWork();
/** For work that is short by itself, such as a step of a run: all of it goes on in the next turn, as far as that has time. */
export const shortWork: Resumption = { add: setImmediate };

/** Measures how long work goes on without a turn of the event loop. Time that it waits for something else does not count. */
export class TimeSlice {
  readonly #resumption: Resumption;
  #turn: Turn | undefined;
  #began = 0;

  constructor(resumption: Resumption = longWork) {
    this.#resumption = resumption;
    this.#begin(performance.now());
  }

  /** True when the work should yield. */
  get isUp(): boolean {
    const now = performance.now();
    const { began } = this.#begin(now);
    return now - this.#began >= SLICE_MS || now - began >= TURN_MS;
  }

  /** Yields to the event loop and begins a new slice. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => this.#resumption.add(resolve));
    this.#begin(performance.now());
  }

  /** Begins a slice, unless it has begun in this turn. */
  #begin(now: number): Turn {
    const current = currentTurn(now);
    if (current !== this.#turn) {
      this.#turn = current;
      this.#began = now;
    }
    return current;
  }
}

/** Runs work to its end at once. Its steps are where it may be interrupted. */
export function finished<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Runs work to its end, and yields to the event loop after each slice of time. */
export async function inTimeSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  const slice = new TimeSlice();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (slice.isUp) await slice.next();
  }
}
