import { AppError } from "#server/platform/errors.ts";

interface Line {
  running: number;
  waiting: (() => void)[];
}

/**
 * Lets a few do something heavy at once for each key, such as a project; others wait in line, and who finds the line too long is told.
 * In one process: each has connections of its own to protect.
 */
export class KeyedSemaphore {
  readonly #lines = new Map<string, Line>();
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #refusal: string;

  /** @param refusal what is told where the line is too long */
  constructor(atOnce: number, mostWaiting: number, refusal: string) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
    this.#refusal = refusal;
  }

  /** Does the work when there is room for it, in the order of asking. @throws AppError RATE_LIMIT_EXCEEDED where too many wait */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    this.#lines.set(key, line);
    if (line.running >= this.#atOnce) {
      if (line.waiting.length >= this.#mostWaiting) throw new AppError("RATE_LIMIT_EXCEEDED", this.#refusal, { retryAfter: 2 });
      // Whoever is done hands over the place itself, so nobody gets in between.
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    } else line.running++;
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.running === 0) this.#lines.delete(key);
    }
  }
}
